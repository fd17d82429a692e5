// What is shown follows the file: after the last news there is always one more look, and a look that failed is made again.

const LEAST = 500, MOST = 10_000; // Milliseconds until a look that failed is made again.

export class Follower {
  /**
   * look(news): asks for everything anew, and is done when it is shown. joined(first, then): what two pieces of news say together.
   * seen(): a promise that a person sees the page; until then nothing is asked for. least: milliseconds.
   */
  constructor(look, joined, seen = async () => {}, least = LEAST) {
    Object.assign(this, { look, joined, seen, least });
    this.count = 0; // Of the news so far: who asked before the last of them may have an older answer.
    this.waiting = null; // What was told since the last look began.
    this.running = null;
  }

  /** There is news. The promise ends when all that was told is shown. */
  told(news) {
    this.count += 1;
    this.waiting = this.waiting === null ? news : this.joined(this.waiting, news);
    this.running ??= this.run().finally(() => { this.running = null; });
    return this.running;
  }

  /** Nothing that was told so far counts any more. */
  forget() {
    this.waiting = null;
  }

  async run() {
    let pause = this.least;
    while (this.waiting !== null) {
      await this.seen();
      const news = this.waiting;
      if (news === null) return;
      this.waiting = null;
      try {
        await this.look(news);
        pause = this.least;
      } catch {
        this.waiting = this.waiting === null ? news : this.joined(news, this.waiting);
        await new Promise((done) => { setTimeout(done, pause); });
        pause = Math.min(2 * pause, MOST);
      }
    }
  }
}

/** A promise that the page is seen. */
export async function seen() {
  while (document.hidden) await new Promise((done) => { document.addEventListener("visibilitychange", done, { once: true }); });
}
