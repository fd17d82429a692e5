// Asking the server.

import { address, path } from "./address.js";

/** What the server said instead of an answer. */
export class Refusal extends Error {
  constructor(status, error) {
    super(error.message);
    this.status = status;
    this.error = error;
  }
}

/** The JSON at an address: ask(["file", "class", "Person"], { from: 0 }). */
export async function ask(parts, options = {}, signal = undefined) {
  const pathname = parts.length ? path(...parts) : "/-/files";
  return answered(await fetch(address(pathname + ".json", options), { signal }));
}

/** Sends JSON to an address. */
export async function send(parts, value) {
  const headers = { "content-type": "application/json" };
  return answered(await fetch(path(...parts), { method: "POST", headers, body: JSON.stringify(value) }));
}

async function answered(response) {
  const found = await response.json().catch(() => ({ error: { kind: "Refused", message: `The server said ${response.status}` } }));
  if (!response.ok) throw new Refusal(response.status, found.error ?? { kind: "Refused", message: `The server said ${response.status}` });
  return found;
}
