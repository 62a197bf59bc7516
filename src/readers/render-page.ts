import type { renderPage as render } from './formats/pdf/render-page.js';

/** Renders a page as the renderer does, whose code is loaded when it is first needed. @throws ReadError when it cannot */
export const renderPage: typeof render = async (file, page, boxes) => {
  const { renderPage: renderNow } = await import('./formats/pdf/render-page.js');
  return await renderNow(file, page, boxes);
};
