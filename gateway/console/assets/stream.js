// The connection to the stream of changes. It comes back by itself, and says what it has seen.

const SLOWEST = 15_000;

export class Stream {
  #source = null;
  #timer = 0;
  #tries = 0;
  #last = '';
  #unsure = false;

  // `onChanges` hears lists of { topic, data } and the id of the last; `onState` hears open, away, unsure:
  // it is not known just now whether one is let in, or gone: not let in.
  constructor(onChanges, onState) {
    this.onChanges = onChanges;
    this.onState = onState;
  }

  // Follow what comes after an event that was heard, if one is given.
  start(last = '') {
    if (this.#source || this.#timer) return;
    if (last) this.#last = last;
    const source = new EventSource(`/api/console/live?last=${encodeURIComponent(this.#last)}`);
    this.#source = source;
    source.onopen = () => { this.#tries = 0; this.#unsure = false; this.onState('open'); };
    source.onmessage = ({ data, lastEventId }) => {
      this.#last = lastEventId;
      if (this.#unsure) { this.#unsure = false; this.onState('open'); }
      const changes = JSON.parse(data);
      if (changes.length) this.onChanges(changes, lastEventId);
    };
    source.addEventListener('unsure', () => { this.#unsure = true; this.onState('unsure'); });
    source.addEventListener('gone', () => { this.stop(); this.onState('gone'); });
    source.onerror = () => {
      this.onState('away');
      if (source.readyState !== EventSource.CLOSED) return; // the browser tries again
      this.#source = null;
      this.#tries += 1;
      const wait = Math.min(SLOWEST, 1000 * 2 ** this.#tries) * (0.8 + Math.random() * 0.4);
      this.#timer = setTimeout(() => { this.#timer = 0; this.start(); }, wait);
    };
  }

  stop() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#source?.close();
    this.#source = null;
  }
}
