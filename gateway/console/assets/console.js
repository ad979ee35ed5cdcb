// The shell: who looks, the navigation, the language, the palette, and the screen.

import { get, post } from './api.js';
import { make } from './dom.js';
import * as live from './live.js';
import { setUpPalette } from './palette.js';
import { current, leave, preload, show } from './router.js';
import { screens } from './screens/index.js';
import { addWords, language, LANGUAGES, setCurrency, setLanguage, t } from './words.js';

const $ = (id) => document.getElementById(id);

addWords({
  en: { 'nav.deck': 'Chats', 'nav.why': 'Why', 'nav.ledger': 'Open work', 'nav.channels': 'Channels', 'nav.people': 'People', 'nav.money': 'Money', 'nav.settings': 'Settings' },
  zh: { 'nav.deck': '聊天', 'nav.why': '原因', 'nav.ledger': '待处理', 'nav.channels': '渠道', 'nav.people': '人员', 'nav.money': '费用', 'nav.settings': '设置' },
});

const READ = /^#\/read\//; // the screen of readers with a link, who are nobody here
const SLOW = 4000; // milliseconds without the stream before the page says so
const LIVE_AFTER = 250; // milliseconds: what a screen asks for first goes before the stream
const TRIES = 8; // requests for a link's cookie, before the page says that it did not get one
const AGAIN = 1100; // milliseconds between two of them, at least
const LATER = 5000; // milliseconds until the page asks again what could not be said
let me = null;
let reading = false;
let atDoor = null; // what shows the door again, in another language
let liveTimer = 0;
let laterTimer = 0;
let laterDoor = null;
let kept = []; // a secret that could not be looked at

function frame() {
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
  $('brand-what').textContent = t(reading ? 'read.brand' : 'console');
  $('skip').textContent = t('skip');
  $('nav').setAttribute('aria-label', t('navigation'));
  $('palette-open').textContent = t('palette');
  $('palette-label').textContent = t('palette.label');
  $('leave').textContent = t('leave');
  $('back').textContent = t('back');
  const other = language === 'zh' ? 'en' : 'zh';
  $('language').textContent = LANGUAGES[other];
  $('language').lang = other === 'zh' ? 'zh-CN' : 'en';
  $('nav-list').replaceChildren(...screens.filter(({ nav, owner }) => nav && (me?.instance || !owner)).map((screen) => make(
    'li', {}, make('a', { href: `#/${[screen.route].flat()[0]}`, 'aria-current': current() === screen ? 'page' : current()?.within === screen.nav ? 'true' : null }, t(`nav.${screen.nav}`)),
  )));
  const at = $('nav-list').querySelector('[aria-current]');
  if (at) $('nav-list').scrollLeft = at.offsetLeft - ($('nav-list').clientWidth - at.offsetWidth) / 2; // on a phone
}

// The address of the room from which this tab came here.
function roomBefore() {
  let room = null;
  try { room = JSON.parse(sessionStorage.getItem('tapeway.room')); } catch { /* not allowed: the lobby */ }
  return room ? `/?${new URLSearchParams({ room })}` : '/';
}

function onShown(screen, title) {
  atDoor = null;
  frame();
  document.title = `${title} · ${me?.agent ?? 'Tapeway'}`;
  if (document.activeElement === document.body) $('screen').focus({ preventScroll: true });
}

// Nobody is signed in: without the stream, the navigation and the palette.
function bare() {
  me = null;
  clearTimeout(liveTimer);
  live.stop();
  leave();
  $('live').hidden = true;
  document.body.classList.add('signed-out');
  for (const id of ['nav', 'palette-open', 'leave', 'back']) $(id).hidden = true;
}

// Show a shut door; `below` are the words for what to do, and `login` is whether the token opens it.
function door({ title, below, sentence = '', login = false }) {
  bare();
  atDoor = () => door({ title, below, login });
  $('screen').replaceChildren(make('section', { class: 'column door' }, make('h1', {}, t(title)),
    sentence ? make('p', { class: 'door-error', role: 'alert' }, sentence) : null, make('p', {}, t(below)),
    login ? make('p', {}, make('a', { class: 'button', href: '/login' }, t('signed-out.token'))) : null));
  document.title = `${t(title)} · Tapeway`;
  frame();
}

const signedOut = (sentence = '') => door({ title: 'signed-out.title', below: 'signed-out.chat', sentence, login: true });
const linkEnded = (sentence = '') => door({ title: 'read.ended', below: 'read.ask', sentence });
const linkBusy = () => door({ title: 'read.busy', below: 'read.again' });
const readerShut = () => door({ title: 'read.closed', below: 'read.again' });

// What somebody may see cannot be said just now: the page asks again by itself.
function notNow(sentence) {
  if (!laterDoor?.isConnected) {
    door({ title: 'later.title', below: 'later.again', sentence });
    laterDoor = $('screen').firstChild;
  }
  laterTimer = setTimeout(enter, LATER);
}

// Ask the door, for a link several times: it admits one browser of an address in a second.
async function ask(kind, secret, tries = kind === 'link' ? TRIES : 1) {
  const response = await fetch(`/console/${kind}`, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ [kind]: secret }),
  });
  if (tries === 1 || ![429, 503].includes(response.status)) return response;
  await new Promise((done) => { setTimeout(done, AGAIN * (1 + Math.random())); });
  return ask(kind, secret, tries - 1);
}

// A link's secret stands in the fragment, which browsers do not send: it is taken out of the address.
// Return which kind it is, whether it opened something, and what the gateway says if it did not.
async function useSecret() {
  const [, kind, secret] = /^#(code|link)=([\w-]+)$/.exec(location.hash) ?? kept;
  kept = [];
  if (!kind) return { kind: '', opened: false, refused: '' };
  history.replaceState(null, '', '/console');
  try {
    const response = await ask(kind, secret);
    if (kind === 'link' && response.status === 429) return { kind, opened: false, busy: true, refused: '' };
    if (response.status === 429) return { kind, opened: false, refused: t('signed-out.used') };
    const { chat, error } = await response.json();
    if (response.status === 503) {
      kept = ['', kind, secret];
      return { kind, opened: false, later: error, refused: '' };
    }
    if (response.ok && chat) history.replaceState(null, '', `/console#/read/${chat}`);
    // That a link has ended stands on the page already.
    return { kind, opened: response.ok, refused: kind === 'link' && response.status === 403 ? '' : error ?? '' };
  } catch {
    return { kind, opened: false, refused: t('unreachable') };
  }
}

async function enter() {
  clearTimeout(laterTimer);
  const { kind, opened, refused, busy = false, later = '' } = await useSecret();
  reading = kind === 'link' || READ.test(location.hash);
  if (later) { notNow(later); return; }
  if (reading) {
    if (kind && !opened) {
      if (busy) linkBusy();
      else linkEnded(refused);
      return;
    }
    bare();
    await show({ onShown });
    return;
  }
  try {
    preload();
    me = await get('me');
    setCurrency(me.currency);
  } catch (cause) {
    if (cause.status === 503) notNow(cause.message);
    else signedOut(refused || (cause.status === 401 ? '' : cause.message));
    return;
  }
  document.body.classList.remove('signed-out');
  for (const id of ['nav', 'palette-open']) $(id).hidden = false;
  $('leave').hidden = me.instance;
  $('back').hidden = !me.instance; // the others' chats are on their platforms
  $('back').href = roomBefore();
  $('agent').textContent = me.agent;
  frame();
  clearTimeout(liveTimer);
  liveTimer = setTimeout(live.start, LIVE_AFTER); // it begins with what was missed
  await show({ onShown });
}

let awayTimer = 0;
live.on('state', (state) => {
  if (state === 'away' && awayTimer) return; // each vain try to connect says so again
  clearTimeout(awayTimer);
  awayTimer = 0;
  if (state === 'gone') enter();
  if (state === 'open') $('live').hidden = true;
  else if (state !== 'gone') awayTimer = setTimeout(() => { awayTimer = 0; $('live').textContent = t(`live.${state}`); $('live').hidden = !me; }, state === 'away' ? SLOW : 0);
});

$('language').addEventListener('click', () => {
  setLanguage(language === 'zh' ? 'en' : 'zh');
  frame();
  if (atDoor) atDoor();
  else if (me || reading) show({ onShown, again: true });
});
$('leave').addEventListener('click', async () => {
  try { await post('leave'); } catch { /* the cookie ends by itself */ }
  signedOut();
});
$('skip').addEventListener('click', (event) => {
  event.preventDefault();
  $('screen').focus();
});
window.addEventListener('console:signed-out', () => {
  if (me) signedOut();
  else if (reading && !atDoor) readerShut();
});
window.addEventListener('hashchange', () => {
  if (/^#(code|link)=/.test(location.hash) || READ.test(location.hash) !== reading) enter();
  else if (me || reading) show({ onShown });
});
setUpPalette(() => me?.instance);
frame();
enter();
