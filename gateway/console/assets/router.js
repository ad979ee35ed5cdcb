// Show the screen that the fragment names: `#/tape/CHAT/at/ENTRY` is the route `tape/:chat/at/:entry`.

import { expect, expectNothing } from './api.js';
import { make } from './dom.js';
import { screens } from './screens/index.js';
import { t } from './words.js';

const root = document.getElementById('screen');
let shown = { screen: null, unmount: null };
let round = 0;

const routes = screens.flatMap((screen) => [screen.route].flat().map((route) => ({ screen, parts: route.split('/') })));

function find(hash) {
  const given = hash.replace(/^#\/?/, '').split('/').filter(Boolean);
  for (const { screen, parts } of routes) {
    if (parts.length !== given.length) continue;
    const params = {};
    const fits = parts.every((part, i) => {
      if (!part.startsWith(':')) return part === given[i];
      try { params[part.slice(1)] = decodeURIComponent(given[i]); } catch { return false; }
      return true;
    });
    if (fits) return { screen, params };
  }
  return null;
}

// Ask for the screen's files, and for what it `needs`, while it is not known yet who looks.
export async function preload() {
  const found = find(location.hash || '#/deck');
  try {
    const paths = (await found?.screen.load())?.needs?.(found.params) ?? [];
    if (!shown.screen) paths.forEach(expect);
  } catch { /* said when it is shown */ }
}

export const current = () => shown.screen;

// Take the screen away.
export function leave() {
  round += 1;
  shown.unmount?.();
  shown = { screen: null, unmount: null };
  root.replaceChildren();
}

// `onShown` hears the screen and its title. A function that `mount` returned may have a method
// `update(params)`: if it returns true, the screen stays and shows other params.
export async function show({ onShown, again = false }) {
  const number = ++round;
  const found = find(location.hash || '#/deck');
  if (!again && found && shown.screen === found.screen && shown.unmount?.update?.(found.params)) return;
  let module = null;
  try { module = await found?.screen.load(); } catch { /* said below */ }
  if (number !== round) return;
  const before = shown;
  shown = { screen: found?.screen ?? null, unmount: null };
  before.unmount?.();
  root.replaceChildren();
  if (!module) {
    root.append(make('p', { class: 'column empty' }, t(found ? 'unreachable' : 'no-screen')));
    onShown(null, t(found ? 'unreachable' : 'no-screen'));
    return;
  }
  shown.unmount = module.mount(root, found.params) ?? null;
  expectNothing();
  onShown(found.screen, module.title());
}
