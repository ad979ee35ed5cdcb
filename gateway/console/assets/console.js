// The shell: who looks, the navigation, the language, the palette, and the screen.

import { get, post } from './api.js';
import { make } from './dom.js';
import * as live from './live.js';
import { setUpPalette } from './palette.js';
import { current, leave, preload, show } from './router.js';
import { screens } from './screens/index.js';
import { LANGUAGES, addWords, language, setLanguage, t } from './words.js';

const $ = (id) => document.getElementById(id);

addWords({
  en: { 'nav.deck': 'Deck', 'nav.why': 'Why', 'nav.ledger': 'Ledger', 'nav.channels': 'Channels', 'nav.people': 'People', 'nav.money': 'Money', 'nav.settings': 'Settings' },
  zh: { 'nav.deck': '总览', 'nav.why': '原因', 'nav.ledger': '账本', 'nav.channels': '渠道', 'nav.people': '人员', 'nav.money': '费用', 'nav.settings': '设置' },
});

const SLOW = 4000; // milliseconds without the stream before the page says so
const LIVE_AFTER = 250; // milliseconds: what a screen asks for first goes before the stream
let me = null;
let liveTimer = 0;

function frame() {
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
  $('brand-what').textContent = t('console');
  $('skip').textContent = t('skip');
  $('nav').setAttribute('aria-label', t('navigation'));
  $('palette-open').textContent = t('palette');
  $('palette-label').textContent = t('palette.label');
  $('leave').textContent = t('leave');
  const other = language === 'zh' ? 'en' : 'zh';
  $('language').textContent = LANGUAGES[other];
  $('language').lang = other === 'zh' ? 'zh-CN' : 'en';
  $('nav-list').replaceChildren(...screens.filter(({ nav, owner }) => nav && (me?.instance || !owner)).map((screen) => make(
    'li', {}, make('a', { href: `#/${[screen.route].flat()[0]}`, 'aria-current': current() === screen ? 'page' : null }, t(`nav.${screen.nav}`)),
  )));
}

function onShown(screen, title) {
  frame();
  document.title = `${title} · ${me?.agent ?? 'Tapeway'}`;
  if (document.activeElement === document.body) $('screen').focus({ preventScroll: true });
}

function signedOut(sentence = '') {
  me = null;
  clearTimeout(liveTimer);
  live.stop();
  leave();
  $('live').hidden = true;
  document.body.classList.add('signed-out');
  for (const id of ['nav', 'palette-open', 'leave']) $(id).hidden = true;
  $('screen').replaceChildren(make('section', { class: 'column door' },
    make('h1', {}, t('signed-out.title')),
    sentence ? make('p', { class: 'door-error', role: 'alert' }, sentence) : null,
    make('p', {}, t('signed-out.chat')),
    make('p', {}, make('a', { class: 'button', href: '/login' }, t('signed-out.token')))));
  frame();
}

// A link's code stands in the fragment, which browsers do not send: it is taken out of the address.
async function useCode() {
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
  if (!code) return '';
  history.replaceState(null, '', '/console');
  try {
    const response = await fetch('/console/code', {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ code }),
    });
    if (response.ok) return '';
    return response.status === 429 ? t('signed-out.used') : (await response.json()).error;
  } catch {
    return t('unreachable');
  }
}

async function enter() {
  const refused = await useCode();
  try {
    preload();
    me = await get('me');
  } catch (cause) {
    signedOut(refused || (cause.status === 401 ? '' : cause.message));
    return;
  }
  document.body.classList.remove('signed-out');
  for (const id of ['nav', 'palette-open']) $(id).hidden = false;
  $('leave').hidden = me.instance;
  $('agent').textContent = me.agent;
  frame();
  clearTimeout(liveTimer);
  liveTimer = setTimeout(live.start, LIVE_AFTER); // it begins with what was missed
  await show({ onShown });
}

let awayTimer = 0;
live.on('state', (state) => {
  clearTimeout(awayTimer);
  if (state === 'gone') enter();
  if (state === 'open') $('live').hidden = true;
  else if (state === 'away') awayTimer = setTimeout(() => { $('live').textContent = t('live.away'); $('live').hidden = !me; }, SLOW);
});

$('language').addEventListener('click', () => {
  setLanguage(language === 'zh' ? 'en' : 'zh');
  frame();
  if (me) show({ onShown, again: true });
  else signedOut();
});
$('leave').addEventListener('click', async () => {
  try { await post('leave'); } catch { /* the cookie ends by itself */ }
  signedOut();
});
$('skip').addEventListener('click', (event) => {
  event.preventDefault();
  $('screen').focus();
});
window.addEventListener('console:signed-out', () => { if (me) signedOut(); });
window.addEventListener('hashchange', () => {
  if (location.hash.startsWith('#code=')) enter();
  else if (me) show({ onShown });
});
setUpPalette();
frame();
enter();
