import { Reflector } from '@nestjs/core';
import type { AuditAction } from '../model/audit.types.js';

/** Metadata of a route: the action of the audit log that its calls are. */
export const AuditedAction = Reflector.createDecorator<AuditAction>();
