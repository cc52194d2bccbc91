import { Global, Module } from '@nestjs/common';
import { DialThread } from './thread/dial-thread.js';

/** The thread that opens connections over TLS, for everybody who calls outside parties. */
@Global()
@Module({ providers: [DialThread], exports: [DialThread] })
export class OutboundModule {}
