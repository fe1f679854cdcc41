/** The package export `attention-lab/core`: the typed engine without any page. */
export { attend } from './attend.ts';
export { AttentionError, type ErrorCode } from './errors.ts';
export { liveSessionCount } from './forward-session.ts';
export { type LoadOptions, load, version } from './load.ts';
export * from './types.ts';
export { type AsyncOptions, attendAsync, workerKind } from './workers.ts';
