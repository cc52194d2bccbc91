import { Injectable, type PipeTransform } from '@nestjs/common';
import { ValidationFailedError } from '../../../common/errors/request.errors.js';
import { isPlain, PLAIN_HTTP_RULE } from '../../../common/outbound/address-policy.js';
import { plainHttpOf } from '../../../common/outbound/configured-outbound.js';
import { Env } from '../../../config/env.js';
import { AuthorizationType } from '../model/system.types.js';

const TOKEN_URL = 'authorization.configuration.identityProviderUrl';

/** Addresses of a checked request. */
interface SentAddresses {
  baseUrl?: string;
  authorization?: { type?: AuthorizationType; configuration?: object };
}

/** Refuses addresses that could never be called (`OUTBOUND_HTTP`). What is stored and not sent stays: it fails when it is called. */
@Injectable()
export class HttpsAddressesPipe implements PipeTransform<SentAddresses | { payload: SentAddresses }> {
  constructor(private readonly env: Env) {}

  /** @throws ValidationFailedError */
  transform<Body extends SentAddresses | { payload: SentAddresses }>(body: Body): Body {
    const [prefix, addresses] = 'payload' in body ? ['payload.', body.payload] : ['', body];
    const { type, configuration = {} } = addresses.authorization ?? {};
    const sent = {
      baseUrl: addresses.baseUrl,
      // Whatever NO_AUTH comes with is neither judged nor stored.
      ...(type === AuthorizationType.NoAuth ? {} : { [TOKEN_URL]: tokenUrlOf(configuration) }),
    };
    const problems = Object.entries(sent)
      .filter(([, url]) => url !== undefined && isPlain(new URL(url), plainHttpOf(this.env)))
      .map(([field]) => ({ field: `${prefix}${field}`, rule: PLAIN_HTTP_RULE }));
    if (problems.length > 0) {
      throw new ValidationFailedError(problems);
    }
    return body;
  }
}

function tokenUrlOf(configuration: object): string | undefined {
  return (configuration as { identityProviderUrl?: string }).identityProviderUrl;
}
