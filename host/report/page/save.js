// SPDX-License-Identifier: Apache-2.0
// Buttons that save the records of a chart as a file for another tool.

import { element } from "./canvas.js";

// `unpack(i)` resolves to the content of the i-th file.
export function addSaveButtons(view, files, unpack) {
  files.forEach((file, i) => {
    const button = view.toolbar.addButton(file.button, `${file.button} (${file.file})`, async () => {
      if (file.embedded) return save(file.file, await unpack(i));
      view.explain(file.button, [
        "The file is too large to be part of this page. This command writes it:",
        element("pre", { textContent: file.command }),
      ]);
    });
    button.dataset.run = file.run ?? "";
  });
}

function save(name, blob) {
  const address = URL.createObjectURL(blob);
  const anchor = element("a", { href: address, download: name });
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
  return blob.size;
}
