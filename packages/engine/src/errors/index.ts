export { DomainError, InternalError, InvalidRequestError } from './domain.error.js';
