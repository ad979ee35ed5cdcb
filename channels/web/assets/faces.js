// How people look: colours by arrival in this room, and a number for those who share a name.

import { store } from './link.js';

const HUES = [4, 0, 2, 6, 8, 3, 1, 7, 5, 9]; // those that come early differ most
const MOST = 200; // people whose arrival a tab remembers

const plain = (name) => name.normalize('NFKC').toLocaleLowerCase().replace(/\s+/g, ' ').trim();

export class Faces {
  #arrived = new Map(); // id -> place, by arrival
  #shown = new Map();   // id and name -> the name that is shown
  #taken = new Map();   // shown name -> id

  constructor(room, agent) {
    this.key = `tapeway.arrivals.${room}`; // so that nobody changes colours with a reload
    this.agent = agent; // its name, as far as it is known
    for (const id of store.get('sessionStorage', this.key) ?? []) this.#arrive(id);
  }

  // The colour of a person; null is this browser's, before the gateway says who that is.
  hueOf(id) { return id === null ? 'hue-agent' : `hue-${HUES[this.#arrive(id) % HUES.length]}`; }

  // A person's name; the second one of a name gets a number, as does who bears the agent's.
  nameOf({ id, name }) {
    if (id === null) return name;
    const key = JSON.stringify([id, name]);
    if (this.#shown.has(key)) return this.#shown.get(key);
    let shown = name;
    for (let number = 2; this.#isAnothers(plain(shown), id); number += 1) shown = `${name} (${number})`;
    this.#taken.set(plain(shown), id);
    this.#shown.set(key, shown);
    return shown;
  }

  #isAnothers(name, id) {
    return name === plain(this.agent()) || (this.#taken.get(name) ?? id) !== id;
  }

  #arrive(id) {
    if (!this.#arrived.has(id)) {
      this.#arrived.set(id, this.#arrived.size);
      store.set('sessionStorage', this.key, [...this.#arrived.keys()].slice(0, MOST));
    }
    return this.#arrived.get(id);
  }
}
