// Moments to the millisecond, and how long something took, in the words of the page's language.

import { addWords, language, number, t } from '../words.js';

addWords({
  en: { 'took.ms': '{0} ms', 'took.s': '{0} s', 'took.min': '{0} min {1} s', 'took.h': '{0} h {1} min' },
  zh: { 'took.ms': '{0} 毫秒', 'took.s': '{0} 秒', 'took.min': '{0} 分 {1} 秒', 'took.h': '{0} 小时 {1} 分' },
});

// What is not known is a dash, never a guess.
export const DASH = '–';

export function took(ms) {
  if (ms === null || ms === undefined) return DASH;
  if (ms < 1000) return t('took.ms', number(ms));
  if (ms < 60_000) return t('took.s', (ms / 1000).toFixed(ms < 10_000 ? 1 : 0));
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return t('took.min', Math.floor(seconds / 60), seconds % 60);
  return t('took.h', Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60));
}

const locale = () => (language === 'zh' ? 'zh-CN' : undefined);
const TIME = { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3, hourCycle: 'h23' };

export function clock(iso) {
  const date = new Date(iso ?? '');
  return !iso || Number.isNaN(+date) ? DASH : new Intl.DateTimeFormat(locale(), TIME).format(date);
}

// Return a sentence whose moments, ISO dates, are local times: with their day unless that is the day of `at`.
export function inLocalTime(says, moments, at) {
  const shown = (moment) => (day(moment) === day(at) ? short(moment) : `${day(moment)} ${short(moment)}`);
  return (moments ?? []).reduce((text, moment) => text.replaceAll(moment, shown(moment)), says);
}

const short = (iso) => new Intl.DateTimeFormat(locale(), { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(new Date(iso));

export function day(iso) {
  const date = new Date(iso ?? '');
  return !iso || Number.isNaN(+date) ? '' : new Intl.DateTimeFormat(locale(), { dateStyle: 'full' }).format(date);
}
