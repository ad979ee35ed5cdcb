// The words of the page in each language. A screen adds its own with `addWords`.

import { amount } from '/static/money.js';

const KEY = 'tapeway.language';
const known = { en: {}, zh: {} };

export const LANGUAGES = { en: 'English', zh: '中文' };
export let language = chosen();

function chosen() {
  let kept = null;
  try { kept = localStorage.getItem(KEY); } catch { /* not allowed: nothing was kept */ }
  if (kept in known) return kept;
  return (navigator.language ?? '').toLowerCase().startsWith('zh') ? 'zh' : 'en';
}

export function addWords(words) {
  for (const [name, table] of Object.entries(words)) Object.assign(known[name], table);
}

// Return a sentence, with `values` in the place of {0}, {1}. A key with `|` has a singular: "{0} chat|{0} chats".
export function t(key, ...values) {
  let text = known[language][key] ?? known.en[key] ?? key;
  const [one, many] = text.split('|');
  if (many !== undefined) text = Number(values[0]) === 1 ? one : many;
  return text.replace(/\{(\d)\}/g, (_all, at) => String(values[at] ?? ''));
}

export function setLanguage(name) {
  language = name;
  try { localStorage.setItem(KEY, name); } catch { /* it holds for this page */ }
}

// Whatever the language, the clock is the browser's: 24 hours where that has 24.
const { hourCycle } = new Intl.DateTimeFormat(undefined, { hour: 'numeric' }).resolvedOptions();
export const locale = () => {
  const known = language === 'zh' ? 'zh-CN' : navigator.language.startsWith('en') ? navigator.language : 'en';
  return new Intl.Locale(known, { hourCycle }).toString();
};
const made = new Map();

function format(name, make) {
  const key = `${language} ${name}`;
  if (!made.has(key)) made.set(key, make(locale()));
  return made.get(key);
}

const isToday = (date) => date.toDateString() === new Date().toDateString();

// Dates for people; "" stays a dash, because a date is never guessed.
export function when(iso) {
  const date = new Date(iso ?? '');
  if (Number.isNaN(+date)) return '–';
  return isToday(date)
    ? format('time', (l) => new Intl.DateTimeFormat(l, { hour: '2-digit', minute: '2-digit' })).format(date)
    : format('day', (l) => new Intl.DateTimeFormat(l, { dateStyle: 'medium', timeStyle: 'short' })).format(date);
}

// The same to the second.
export function whenExactly(iso) {
  const date = new Date(iso ?? '');
  if (Number.isNaN(+date)) return '–';
  return isToday(date)
    ? format('second', (l) => new Intl.DateTimeFormat(l, { timeStyle: 'medium' })).format(date)
    : format('day and second', (l) => new Intl.DateTimeFormat(l, { dateStyle: 'medium', timeStyle: 'medium' })).format(date);
}

const UNITS = [['day', 86_400], ['hour', 3600], ['minute', 60], ['second', 1]];

// How long ago something was: "9 minutes ago".
export function ago(seconds) {
  const [unit, size] = UNITS.find(([, least]) => seconds >= least) ?? UNITS.at(-1);
  return format('ago', (l) => new Intl.RelativeTimeFormat(l)).format(-Math.round(seconds / size), unit);
}

export const number = (value) => format('number', (l) => new Intl.NumberFormat(l)).format(value ?? 0);
export const short = (value) => format('short', (l) => new Intl.NumberFormat(l, { notation: 'compact', maximumFractionDigits: 1 })).format(value ?? 0);

let currency = 'USD';
export const setCurrency = (name) => { currency = name; };

// Money in the currency of the prices. What is `unpriced` has no known price, which is not 0.
export const money = (value, unpriced = false) => {
  if (unpriced && value === null) return t('price-unknown');
  const known = amount(value, currency, locale());
  return unpriced ? t('price-at-least', known) : known;
};

addWords({
  en: {
    console: 'console', navigation: 'Screens', skip: 'Skip to the screen', leave: 'Sign out', back: 'Back to the room', scrolls: 'More columns: scroll sideways',
    palette: 'Go to… (Ctrl-K)', 'palette.label': 'Go to a screen or a chat', 'palette.none': 'Nothing of that name.',
    unreachable: 'The gateway cannot be reached. Try again in a moment.', refused: 'The gateway refused this (status {0}).',
    'live.away': 'not live: reconnecting', 'live.unsure': 'not live: asking your platform what you may see', 'later.title': 'Not just now', 'later.again': 'This page tries again by itself.', 'no-screen': 'There is no such screen.', loading: 'Loading…',
    'signed-out.title': 'Who are you?',
    'signed-out.chat': 'Send /console to the agent in a private chat: owners, admins and administrators of a chat get a link that works once.',
    'signed-out.token': 'Sign in with the access token', 'signed-out.used': 'This link opened nothing.',
    'read.brand': 'read only', 'read.ended': 'This link has ended', 'read.ask': 'Ask the person who gave it to you for another one.',
    'read.busy': 'Too many are opening links just now', 'read.closed': 'This tape is no longer open to you', 'read.again': 'Open your link once more. If it no longer works, ask the person who gave it to you for another one.',
    stop: '.', 'again': 'Try again', close: 'Close', private: 'private', 'all-chats': 'All chats', 'to-tape': 'Back to the timeline', 'price-unknown': 'price unknown', 'price-at-least': 'at least {0}',
  },
  zh: {
    console: '控制台', navigation: '页面', skip: '跳到内容', leave: '退出', back: '返回聊天室', scrolls: '还有更多列：请横向滚动',
    palette: '前往…（Ctrl-K）', 'palette.label': '前往某个页面或聊天', 'palette.none': '没有这个名称。',
    unreachable: '无法连接网关，请稍后再试。', refused: '网关拒绝了请求（状态 {0}）。',
    'live.away': '未实时更新：正在重新连接', 'live.unsure': '未实时更新：正在向您的平台询问您可查看的内容', 'later.title': '暂时无法打开', 'later.again': '此页面会自动重试。', 'no-screen': '没有这个页面。', loading: '正在载入…',
    'signed-out.title': '您是谁？',
    'signed-out.chat': '请在私聊中向助手发送 /console：所有者、管理员和群组的管理者会得到一个一次性链接。',
    'signed-out.token': '用访问令牌登录', 'signed-out.used': '此链接未能打开控制台。',
    'read.brand': '只读', 'read.ended': '此链接已失效', 'read.ask': '请向给您链接的人索取新的链接。',
    'read.busy': '现在打开链接的人太多', 'read.closed': '您已无法继续阅读此磁带', 'read.again': '请重新打开您的链接。如果链接已失效，请向给您链接的人索取新的链接。',
    stop: '。', 'again': '重试', close: '关闭', private: '私聊', 'all-chats': '所有聊天', 'to-tape': '返回磁带', 'price-unknown': '价格未知', 'price-at-least': '至少 {0}',
  },
});
