# SPDX-License-Identifier: Apache-2.0
"""Does with a memory snapshot what PyTorch's viewer does, and fails where the viewer would.

replay_snapshot.py FILE   prints the snapshot's content as JSON
"""

import json
import pickle
import pickletools
import sys

# Types known to the viewer's own unpickler.
KNOWN = {
    "PROTO",
    "APPEND",
    "APPENDS",
    "LIST",
    "TUPLE",
    "NEWFALSE",
    "NEWTRUE",
    "NONE",
    "BINGET",
    "BININT",
    "BININT1",
    "BININT2",
    "EMPTY_DICT",
    "EMPTY_LIST",
    "FRAME",
    "LONG1",
    "LONG_BINGET",
    "MARK",
    "MEMOIZE",
    "BINPUT",
    "LONG_BINPUT",
    "SETITEMS",
    "SETITEM",
    "DICT",
    "SHORT_BINUNICODE",
    "BINUNICODE",
    "STOP",
    "EMPTY_TUPLE",
    "TUPLE1",
    "TUPLE2",
    "TUPLE3",
    "BINFLOAT",
}


def check_operations(content):
    unknown = {operation.name for operation, _, _ in pickletools.genops(content)} - KNOWN
    assert not unknown, f"the viewer does not know {unknown}"
    assert content[0] == 0x80 and content[1] <= 4, "the viewer knows protocols 2 to 4"


def check_segment(segment):
    address = segment["address"]
    for block in segment["blocks"]:
        assert block["address"] == address, f"block at {block['address']} where the one before ends at {address}"
        assert block["size"] > 0 and 0 <= block["requested_size"] <= block["size"]
        assert block["state"] in ("active_allocated", "active_pending_free", "inactive")
        address += block["size"]
    assert address == segment["address"] + segment["total_size"], "blocks do not fill their segment"
    active = [block for block in segment["blocks"] if block["state"] == "active_allocated"]
    assert segment["allocated_size"] == sum(block["size"] for block in active)
    assert segment["requested_size"] == sum(block["requested_size"] for block in active)


def check_categories(traces):
    categories = {entry["category"] for trace in traces for entry in trace if "category" in entry}
    assert not categories or "unknown" in categories, "the viewer fails on categories without unknown"
    return categories


class Replay:
    """The history of one device, backwards from its end."""

    def __init__(self, snapshot, device):
        self.segments = {s["address"]: s["total_size"] for s in snapshot["segments"] if s["device"] == device}
        self.blocks = {}
        for segment in snapshot["segments"]:
            if segment["device"] == device:
                self.blocks.update(
                    {
                        b["address"]: b["state"] == "active_pending_free"
                        for b in segment["blocks"]
                        if b["state"] != "inactive"
                    }
                )

    def undo(self, entry):
        action, address = entry["action"], entry.get("addr")
        if action == "free_requested":
            self.blocks[address] = False
        elif action == "free_completed":
            assert address not in self.blocks
            self.blocks[address] = True
        elif action == "alloc":
            assert not self.blocks.pop(address), f"{address} was given back before it was handed out"
        elif action in ("segment_free", "segment_unmap"):
            self.segments[address] = entry["size"]
        elif action == "segment_alloc":
            assert self.segments.pop(address) == entry["size"]
        elif action == "segment_map":
            self.unmap(address, entry["size"])

    def unmap(self, address, size):
        start = max(each for each in self.segments if each <= address)
        total = self.segments.pop(start)
        assert address + size <= start + total, "what was mapped lies in no segment"
        if start < address:
            self.segments[start] = address - start
        if address + size < start + total:
            self.segments[address + size] = start + total - address - size

    def check(self):
        for address in self.blocks:
            assert any(start <= address < start + size for start, size in self.segments.items()), (
                f"block {address} lies in no segment"
            )


def main(file):
    with open(file, "rb") as opened:
        content = opened.read()
    check_operations(content)
    snapshot = pickle.loads(content)
    for segment in snapshot["segments"]:
        check_segment(segment)
    categories = check_categories(snapshot["device_traces"])
    left = []
    for device, trace in enumerate(snapshot["device_traces"]):
        replay = Replay(snapshot, device)
        replay.check()
        for entry in reversed(trace):
            replay.undo(entry)
            replay.check()
        left.append({"blocks": sorted(replay.blocks), "segments": sorted(replay.segments)})
    print(json.dumps({"snapshot": snapshot, "categories": sorted(categories), "before": left}))


if __name__ == "__main__":
    main(sys.argv[1])
