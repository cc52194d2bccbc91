import { applyDecorators, UseInterceptors } from '@nestjs/common';
import type { AuditAction } from '../model/audit.types.js';
import { AuditedAction } from './audited-action.js';
import { AuditInterceptor } from './audit.interceptor.js';

/** Marks a route whose refused and failed calls belong in the audit log. What succeeds is recorded by its service. */
export const Audited = (action: AuditAction): MethodDecorator =>
  applyDecorators(AuditedAction(action), UseInterceptors(AuditInterceptor));
