import type { RequestHandler } from 'express';

/**
 * Express middleware that takes `If-None-Match: *` of reads for no condition. The framework would answer such a read
 * with 304 and no body. It would do so even where an answer has no entity tag and is made anew for each request, as the
 * answer of a rescan is.
 */
export const withoutStarCondition: RequestHandler = (request, _response, next) => {
  if (request.headers['if-none-match'] === '*') {
    delete request.headers['if-none-match'];
  }
  next();
};
