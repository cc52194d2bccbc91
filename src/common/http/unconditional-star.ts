import type { RequestHandler } from 'express';

/**
 * Express middleware that takes `If-None-Match: *` of reads for no condition. The framework would answer it with 304 and
 * no body, also where an answer has no entity tag and is made anew for each request, as that of a rescan.
 */
export const withoutStarCondition: RequestHandler = (request, _response, next) => {
  if (request.headers['if-none-match'] === '*') {
    delete request.headers['if-none-match'];
  }
  next();
};
