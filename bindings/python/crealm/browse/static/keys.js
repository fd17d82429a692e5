// Asking for the key of an encrypted file. It is sent in the body of a request, and is in no address.

import { Refusal, send } from "./api.js";
import { h, isolated, put } from "./dom.js";

export function form(file, error, opened) {
  const said = h("p", { class: "fault", role: "alert" });
  const text = h("input", { id: "secret", type: "password", autocomplete: "off", spellcheck: "false", required: true });
  const kind = (value, label, hint) => h(
    "label", { class: "choice" },
    h("input", { type: "radio", name: "kind", value, checked: value === "key" }),
    h("span", {}, label, h("span", { class: "faint" }, hint)),
  );
  const button = h("button", { type: "submit", class: "main" }, "Open");
  const submit = async (event) => {
    event.preventDefault();
    button.disabled = true;
    put(said);
    try {
      await send([file, "key"], { [element.elements.kind.value]: text.value });
      text.value = "";
      opened();
    } catch (failure) {
      put(said, failure instanceof Refusal ? failure.error.message : "The server does not answer.");
      text.select();
    } finally {
      button.disabled = false;
    }
  };
  const element = h("form", { class: "sheet narrow", onsubmit: submit },
    h("h1", {}, "A key is needed"),
    h("p", {}, isolated(file), " is encrypted, or is no realm file."),
    h("p", { class: "faint" }, isolated(error.message)),
    h("fieldset", {}, h("legend", { class: "unseen" }, "What opens it"),
      kind("key", "Key", " 64 bytes as hexadecimal digits or base64"), kind("passphrase", "Passphrase", " as it is")),
    h("label", { for: "secret" }, "Key or passphrase"), text, said, button);
  queueMicrotask(() => text.focus());
  return element;
}
