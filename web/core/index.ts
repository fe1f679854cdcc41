/** The package export `attention-lab/core`: the typed engine without any page. */
export { attend } from './attend.ts';
export { AttentionError, type ErrorCode } from './errors.ts';
export { type LoadOptions, load, version } from './load.ts';
export { liveSessionCount } from './session.ts';
export * from './types.ts';
