# SPDX-License-Identifier: Apache-2.0
"""kymo export tensorboard: a run of kymo as TensorBoard event files."""

import pathlib

import kymo

from kymo_commands import require
from kymo_commands._summary import Report, summary_of

_NEEDED = ("tensorboard", "kymo export tensorboard")


class _Writer:
    """Writes summaries with TensorBoard's own classes, which need no TensorFlow."""

    def __init__(self, folder, wall_time):
        files = require("tensorboard.summary.writer.event_file_writer", *_NEEDED)
        self._events = require("tensorboard.compat.proto.event_pb2", *_NEEDED)
        self._summaries = require("tensorboard.compat.proto.summary_pb2", *_NEEDED)
        self._tensors = require("tensorboard.compat.proto.tensor_pb2", *_NEEDED)
        self._types = require("tensorboard.compat.proto.types_pb2", *_NEEDED)
        self._wall_time = wall_time
        self._writer = files.EventFileWriter(str(folder))

    def _add(self, value, step):
        summary = self._summaries.Summary(value=[value])
        self._writer.add_event(self._events.Event(wall_time=self._wall_time, step=step, summary=summary))

    def scalar(self, tag, value, step=0):
        self._add(self._summaries.Summary.Value(tag=tag, simple_value=value), step)

    def text(self, tag, text):
        metadata = self._summaries.SummaryMetadata(
            plugin_data=self._summaries.SummaryMetadata.PluginData(plugin_name="text"),
            data_class=self._summaries.DATA_CLASS_TENSOR,
        )
        tensor = self._tensors.TensorProto(dtype=self._types.DT_STRING, string_val=[text.encode()])
        tensor.tensor_shape.dim.add(size=1)
        self._add(self._summaries.Summary.Value(tag=tag, metadata=metadata, tensor=tensor), 0)

    def close(self):
        self._writer.close()


def _markdown(columns, rows):
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def main(options):
    with kymo.open(options["database"]) as database:
        summary = summary_of(database, options["run"])
    folder = pathlib.Path(options["out"]) / summary.name
    writer = _Writer(folder, summary.started_at.timestamp())
    for name, value in summary.metrics.items():
        writer.scalar(name, value)
    for phase, times in summary.series.items():
        for step, time_ms in times:
            writer.scalar(f"steps/{phase}_ms", time_ms, step)
    facts = [[name, str(value)] for name, value in [*summary.config.items(), *summary.environment.items()]]
    writer.text("run", _markdown(["name", "value"], facts))
    with Report(options["database"], summary.run["invocation_id"]) as report:
        for name, columns, rows in report.tables():
            writer.text(f"tables/{name}", _markdown(columns, rows))
    writer.close()
    print(f"{folder}: run {summary.run['run_id']}; show it with `tensorboard --logdir {options['out']}`")
    return 0
