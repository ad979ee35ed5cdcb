// Small drawings: a line of the last hours, and how full something is.

import { svg } from './dom.js';

const WIDTH = 96;
const HEIGHT = 22;

// Draw the numbers of equal times, oldest first. `label` says in words what they show.
export function spark(values, label) {
  const most = Math.max(1, ...values);
  const step = WIDTH / Math.max(1, values.length);
  const bars = values.map((value, i) => svg('rect', {
    x: (i * step + 0.5).toFixed(2), width: Math.max(1, step - 1).toFixed(2), rx: 0.5,
    y: (HEIGHT - Math.max(value ? 2 : 0.75, (value / most) * HEIGHT)).toFixed(2),
    height: Math.max(value ? 2 : 0.75, (value / most) * HEIGHT).toFixed(2), class: value ? 'spark-bar' : 'spark-none',
  }));
  return svg('svg', { class: 'spark', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': label, preserveAspectRatio: 'none' }, bars);
}

// Draw how much of a whole is left, as a half circle with a needle; words beside it say how much.
export function gauge(part, whole) {
  const share = whole > 0 ? Math.min(1, Math.max(0, part / whole)) : 0;
  const angle = Math.PI * (1 - share);
  const [x, y] = [24 + 17 * Math.cos(angle), 24 - 17 * Math.sin(angle)];
  return svg('svg', { class: `gauge ${share < 0.1 ? 'low' : ''}`, viewBox: '0 0 48 28', 'aria-hidden': 'true' },
    svg('path', { class: 'gauge-track', d: 'M4 24a20 20 0 0 1 40 0' }),
    svg('path', { class: 'gauge-part', d: 'M4 24a20 20 0 0 1 40 0', pathLength: 100, 'stroke-dasharray': `${(share * 100).toFixed(1)} 200` }),
    svg('path', { class: 'gauge-needle', d: `M24 24 L${x.toFixed(2)} ${y.toFixed(2)}` }),
    svg('circle', { class: 'gauge-pin', cx: 24, cy: 24, r: 2 }));
}
