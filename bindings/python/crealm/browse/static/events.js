// What happens to a file, for all pages of the web client that show it. A web client has few connections for one server, and events hold one for as
// long as they last: so one page listens, the one that has the lock, and tells the others. Who comes later asks it for the newest version: that may
// have been written after the page was made, and told before it could hear.
//
// Web clients have locks only where the way to the server is safe: on this machine, or with TLS. Elsewhere each page listens while it is seen.

import { path } from "./address.js";

const KINDS = ["version", "problem"];
const AGAIN = 3000; // Milliseconds until a page listens again whose connection was refused.

/** Calls told(kind, data) for each event of a file, until the function that it returns is called. */
export function heard(file, told) {
  const end = new AbortController();
  const ended = new Promise((done) => { end.signal.addEventListener("abort", done); });
  if (navigator.locks) together(file, told, end, ended);
  else alone(file, told, end);
  return () => end.abort();
}

/** The events until `ended`, or until the server refuses them. */
function listened(file, told, ended) {
  return new Promise((done) => {
    const source = new EventSource(path(file, "events"));
    for (const kind of KINDS) source.addEventListener(kind, (event) => told(kind, JSON.parse(event.data)));
    source.addEventListener("error", () => {
      if (source.readyState === EventSource.CLOSED) setTimeout(done, AGAIN); // Else the web client connects again by itself.
    });
    ended.then(() => { source.close(); done(); });
  });
}

async function together(file, told, end, ended) {
  const name = `events ${file}`, channel = new BroadcastChannel(name);
  let newest = null; // Where this page listens: what it was told last.
  channel.addEventListener("message", ({ data }) => {
    if (data !== null) told(...data);
    else if (newest !== null) channel.postMessage(newest);
  });
  ended.then(() => channel.close());
  channel.postMessage(null);
  const tell = (kind, data) => {
    if (kind === "version") newest = [kind, { ...data, before: null, classes: undefined }]; // What changed is for who saw the version before.
    channel.postMessage([kind, data]);
    told(kind, data);
  };
  while (!end.signal.aborted) {
    await navigator.locks.request(name, { signal: end.signal }, () => listened(file, tell, ended)).catch(() => {}); // Ended before its turn.
    newest = null;
  }
}

async function alone(file, told, end) {
  while (!end.signal.aborted) {
    const away = new Promise((done) => {
      end.signal.addEventListener("abort", done);
      document.addEventListener("visibilitychange", () => document.hidden && done());
    });
    if (document.hidden) await new Promise((done) => {
      end.signal.addEventListener("abort", done);
      document.addEventListener("visibilitychange", done, { once: true });
    });
    else await listened(file, told, away);
  }
}
