// The wheel and the pointer on the drawn tape.

const DRAGGED = 3; // pixels that a pointer moves before it drags

// `at` says where the window's left edge is, how wide the window is, and whether it shows the whole
// tape, of which only the head can be dragged; `moveTo(place)`, `move(by)` and `zoom(factor)` act.
export function byHand(canvas, signal, { at, moveTo, move, zoom }) {
  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    if (event.ctrlKey) zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15);
    else move(Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : event.deltaY);
  }, { passive: false, signal });

  let held = null;
  canvas.addEventListener('pointerdown', (event) => {
    held = { ...at(), x: event.offsetX, dragged: false };
    canvas.setPointerCapture(event.pointerId);
  }, { signal });
  canvas.addEventListener('pointermove', (event) => {
    if (!held || !event.buttons) return;
    const by = held.x - event.offsetX;
    held.dragged ||= Math.abs(by) > DRAGGED;
    if (!held.dragged) return;
    if (held.whole) moveTo(held.left + event.offsetX);
    else moveTo(held.left + by + held.width / 2);
  }, { signal });
  canvas.addEventListener('pointerup', (event) => {
    if (held && !held.dragged) moveTo(held.left + event.offsetX);
    held = null;
  }, { signal });
}
