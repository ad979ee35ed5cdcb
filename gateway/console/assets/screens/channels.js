// The channels: a lamp, since when, the last sign of life, what is left of the limits, what is missing.

import { coded, lamp, make } from '../dom.js';
import { follow, section } from '../screen.js';
import { gauge } from '../svg.js';
import { addWords, ago, number, t, when } from '../words.js';

addWords({
  en: {
    'channels.title': 'Channels', 'lamp.ready': 'connected', 'lamp.starting': 'starting', 'lamp.waiting': 'reconnecting', 'lamp.unfit': 'not set up', 'lamp.stopped': 'stopped', 'lamp.deaf': 'stalled',
    'channels.since': 'since {0}', 'channels.heard': 'last sign of life {0}', 'channels.asked': 'last message {0}', 'channels.elsewhere': 'another process listens', 'channels.never': 'no sign of life yet',
    'channels.limits': 'refused {0} time for its limits|refused {0} times for its limits', 'channels.edits': '{0} update of drafts|{0} updates of drafts',
    'channels.left': '{0} of {1} messages left within {2} s', 'channels.again': 'all again in {0} s', 'channels.limit': 'What the platform still lets it send now', 'channels.bot': 'all chats', 'channels.model': 'Model', 'channels.missing': 'What to do',
    'channels.waiting': 'Not yet on their tapes', 'channels.wait': '{0} message waits to be placed, accepted {1}|{0} messages wait to be placed, the oldest accepted {1}',
  },
  zh: {
    'channels.title': '渠道', 'lamp.ready': '已连接', 'lamp.starting': '正在启动', 'lamp.waiting': '正在重新连接', 'lamp.unfit': '未配置', 'lamp.stopped': '已停止', 'lamp.deaf': '停滞',
    'channels.since': '自 {0}', 'channels.heard': '最近活动：{0}', 'channels.asked': '最近消息：{0}', 'channels.elsewhere': '由另一进程接收', 'channels.never': '尚无活动',
    'channels.limits': '因限额被拒 {0} 次', 'channels.edits': '草稿更新 {0} 次',
    'channels.left': '{2} 秒内还可发送 {0} / {1} 条', 'channels.again': '{0} 秒后全部恢复', 'channels.limit': '平台目前还允许发送的数量', 'channels.bot': '所有聊天', 'channels.model': '模型', 'channels.missing': '处理办法',
    'channels.waiting': '尚未写入磁带', 'channels.wait': '{0} 条消息等待写入，最早的收到于{1}',
  },
});

const EVERY = 15_000; // milliseconds after which what ages is asked for again while somebody looks

const KINDS = { ready: 'good', starting: 'warn', waiting: 'warn', unfit: 'bad', stopped: '', deaf: 'bad' };

export const title = () => t('channels.title');

export function mount(root) {
  const { root: place, note } = section(t('channels.title'), 'channels');
  const list = make('ul', { class: 'cards' });
  const waits = make('section', { class: 'group', hidden: true });
  const model = make('section', { class: 'group' });
  place.append(list, waits, model);
  root.append(place);

  function draw({ channels, model: used, waiting }) {
    list.replaceChildren(...channels.map(cardOf));
    waits.hidden = !waiting;
    waits.replaceChildren(...(waiting ? [make('h2', {}, t('channels.waiting')), make('p', {}, t('channels.wait', waiting.messages, ago(waiting.seconds)))] : []));
    model.replaceChildren(make('h2', {}, t('channels.model')), make('p', {}, used.name), ...notes(used.notes));
  }

  const followed = follow({ path: () => 'channels', draw, note, topics: ['channels', 'ledger'] });
  const look = () => { if (!document.hidden) followed.refresh(); };
  const timer = setInterval(look, EVERY);
  document.addEventListener('visibilitychange', look);
  return () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', look);
    followed.end();
  };
}

function cardOf(channel) {
  // On a page and in a terminal nothing but messages is a sign of life.
  const heard = ['web', 'cli'].includes(channel.channel) ? 'channels.asked' : 'channels.heard';
  const life = channel.elsewhere ? t('channels.elsewhere') : channel.heard_seconds === null ? t('channels.never') : t(heard, ago(channel.heard_seconds));
  return make('li', { class: 'card', 'data-channel': channel.channel },
    make('p', { class: 'card-head' }, make('strong', {}, channel.channel), lamp(KINDS[channel.lamp] ?? '', t(`lamp.${channel.lamp}`))),
    make('p', { class: 'row-about' }, [channel.since ? t('channels.since', when(channel.since)) : '', life].filter(Boolean).join(' · ')),
    channel.why ? make('p', { class: 'row-why' }, coded(channel.why)) : null,
    ...notes(channel.notes),
    ...(channel.left.length ? [make('h3', {}, t('channels.limit')), make('ul', { class: 'gauges' }, channel.left.map(({ title: name, left, of, window: within, seconds }) => make('li', {},
      gauge(left, of), make('bdi', { class: 'gauge-name' }, name || t('channels.bot')), make('span', { class: 'row-about' }, t('channels.left', left, of, number(within))), left < of ? make('span', { class: 'row-about' }, t('channels.again', seconds)) : null)))] : []),
    work(channel));
}

function work({ rate_limits: limits, edits }) {
  const parts = [limits ? t('channels.limits', limits) : '', edits ? t('channels.edits', edits) : ''].filter(Boolean);
  return parts.length ? make('p', { class: 'row-about' }, parts.join(' · ')) : null;
}

const notes = (found) => (found.length ? [make('h3', {}, t('channels.missing')), make('ul', { class: 'notes' }, found.map((one) => make('li', {}, coded(one))))] : []);
