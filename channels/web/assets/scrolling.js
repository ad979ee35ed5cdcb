// Scrolling: the transcript follows its end while the reader is there.

import { counted, t } from './words.js';

const NEAR = 40;

export function setUpScrolling({ scroller, track, jump, jumpText, spool }) {
  let follow = true;
  let waiting = 0; // messages that came in below the reader
  let lastTop = 0;
  let lastHeight = 0;
  const calm = window.matchMedia('(prefers-reduced-motion: reduce)');

  const gap = () => scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop;

  function showJump() {
    const far = gap() > scroller.clientHeight * 1.5;
    jump.hidden = follow || (!waiting && !far);
    let text = t('Latest');
    if (waiting) text = counted(waiting, 'new message');
    if (jumpText.textContent !== text) jumpText.textContent = text;
    jump.dataset.fresh = String(waiting > 0);
  }

  function pin() {
    scroller.scrollTop = scroller.scrollHeight;
    lastTop = scroller.scrollTop;
  }

  function toEnd() {
    follow = true;
    waiting = 0;
    pin();
    showJump();
  }

  scroller.addEventListener('scroll', () => {
    const top = scroller.scrollTop;
    const shrunk = scroller.scrollHeight < lastHeight;
    // Scrolling up stops following the end; reaching the end follows it again.
    if (top < lastTop - 1 && !shrunk && gap() > 2) follow = false;
    else if (gap() <= NEAR) follow = true;
    lastTop = top;
    lastHeight = scroller.scrollHeight;
    if (follow) waiting = 0;
    if (!calm.matches) spool.style.setProperty('--turn', `${(top / 5) % 360}deg`);
    showJump();
  }, { passive: true });

  const observer = new ResizeObserver(() => {
    if (follow) pin();
    lastHeight = scroller.scrollHeight;
    showJump();
  });
  observer.observe(scroller);
  observer.observe(track);

  jump.addEventListener('click', () => {
    toEnd();
    scroller.focus({ preventScroll: true });
  });

  return {
    toEnd,
    isReading: () => !follow,
    noteNew(count) {
      if (!follow) waiting += count;
      showJump();
    },
    show(element) {
      follow = false;
      element.scrollIntoView({ block: 'center', behavior: calm.matches ? 'auto' : 'smooth' });
    },
  };
}
