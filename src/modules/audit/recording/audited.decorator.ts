import { Reflector } from '@nestjs/core';
import type { AuditAction } from '../model/audit.types.js';

/** Marks a route whose refused and failed calls belong in the audit log. What succeeds is recorded by its service. */
export const Audited = Reflector.createDecorator<AuditAction>();
