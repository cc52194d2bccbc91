import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { IsString, Matches } from 'class-validator';
import { HasLength } from '../../../common/validation/patterns.decorators.js';
import { CONTRACT_MESSAGE } from '../../../common/validation/request-validation.pipe.js';
import { RESOURCE_NAME, RESOURCE_NAME_MAX_LENGTH } from '../../../common/validation/resource-name.js';

/** The words of the contract (docs/contract.md, section 2.1). */
export const RESOURCE_NAME_MESSAGE =
  'Name can only contain letters, numbers and the following special characters [] () . _ -';

/** The name rule of resources (docs/contract.md, section 2.1). */
export const IsResourceName = (options: ApiPropertyOptions): PropertyDecorator =>
  applyDecorators(
    ApiProperty({
      type: String,
      minLength: 1,
      maxLength: RESOURCE_NAME_MAX_LENGTH,
      pattern: RESOURCE_NAME.source,
      ...options,
    }),
    IsString({ message: 'must be a string' }),
    Matches(RESOURCE_NAME, {
      message: RESOURCE_NAME_MESSAGE,
      context: { [CONTRACT_MESSAGE]: RESOURCE_NAME_MESSAGE },
    }),
    HasLength(1, RESOURCE_NAME_MAX_LENGTH),
  );
