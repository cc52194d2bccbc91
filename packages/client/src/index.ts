export { connect, type ConnectOptions } from './connect.js';
export { AddressError, NoAnswerError, ServiceError, SvcError } from './errors.js';
export { followInstance, type FollowOptions, type InstanceProgress } from './follow.js';
export { pagesOf } from './pages.js';
export { SvcClient } from './generated/sdk.gen.js';
export type * from './generated/types.gen.js';
