// What happens to a file, for all pages of the web client that show it. A web client has few connections for one server, and events hold one for as
// long as they last: so one page listens, the one that has the lock, and tells the others.

import { path } from "./address.js";

const KINDS = ["version", "problem"];

/** Calls told(kind, data) for each event of a file, until the function that it returns is called. */
export function heard(file, told) {
  const end = new AbortController(), channel = new BroadcastChannel(`events ${file}`);
  channel.addEventListener("message", ({ data: [kind, data] }) => told(kind, data));
  const listen = () => new Promise((done) => {
    const source = new EventSource(path(file, "events"));
    for (const kind of KINDS) {
      source.addEventListener(kind, (event) => {
        const data = JSON.parse(event.data);
        told(kind, data);
        channel.postMessage([kind, data]);
      });
    }
    end.signal.addEventListener("abort", () => { source.close(); done(); });
  });
  navigator.locks.request(`events ${file}`, { signal: end.signal }, listen).catch(() => {}); // It was ended before its turn.
  end.signal.addEventListener("abort", () => channel.close());
  return () => end.abort();
}
