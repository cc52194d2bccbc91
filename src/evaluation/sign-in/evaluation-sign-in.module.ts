import { Module, type DynamicModule } from '@nestjs/common';
import { EvaluationIssuer } from '../evaluation-issuer.js';
import { EvaluationSignInController } from './evaluation-sign-in.controller.js';

/** Sign-in to the console of evaluation mode, as any user. */
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
