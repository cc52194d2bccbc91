import type { ExecutionContext } from '@nestjs/common';
import type { Principal } from '../user/principal.js';

/** Hears of every call that was refused for want of a permission; the audit log provides one. Injected by class. */
export abstract class DenialListener {
  /** Must return at once and not throw: the caller's 403 does not wait for it. */
  abstract denied(context: ExecutionContext, principal: Principal, permission: string): void;
}
