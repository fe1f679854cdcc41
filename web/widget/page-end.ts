/** What stands at the end of the page, fetched by those who come near it. */
export { EnginePanel } from './engine-panel.ts';
export { ScaleLabRunner } from './scale-lab.ts';
