"use strict";

// Copy the table of a model as text for documents.
const copying = (() => {
  const { models } = state;

  // Browsers without a clipboard for pages from disk can still copy selected text.
  function copySelected(text) {
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "offscreen";
    document.body.append(field);
    field.select();
    const copied = document.execCommand("copy");
    field.remove();
    return copied;
  }

  async function copyText(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return copySelected(text);
    }
  }

  function listen() {
    for (const part of document.querySelectorAll(".model-measures")) {
      const { exports } = models[Number(part.dataset.model)];
      const status = part.querySelector(".copy [role=status]");
      for (const button of part.querySelectorAll("[data-copy]")) {
        const format = button.dataset.copy;
        button.addEventListener("click", async () => {
          const copied = await copyText(exports[format]);
          button.focus({ preventScroll: true });
          status.textContent = copied
            ? `Copied the evaluated values as ${format}.`
            : "The browser did not allow copying.";
        });
      }
    }
  }

  return { listen };
})();
