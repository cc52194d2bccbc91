import { Module, type DynamicModule } from '@nestjs/common';
import { EvaluationIssuer } from '../evaluation-issuer.js';
import { EvaluationSignInController } from './evaluation-sign-in.controller.js';

/** Signing in at the console of evaluation mode, as whomever. */
@Module({})
export class EvaluationSignInModule {
  static of(issuer: EvaluationIssuer): DynamicModule {
    return {
      module: EvaluationSignInModule,
      controllers: [EvaluationSignInController],
      providers: [{ provide: EvaluationIssuer, useValue: issuer }],
    };
  }
}
