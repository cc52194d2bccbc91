import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { IsString, Matches } from 'class-validator';
import { HasLength } from '../../common/validation/patterns.decorators.js';
import { CONTRACT_MESSAGE } from '../../common/validation/request-validation.pipe.js';

const CHARACTERS = /^[A-Za-z0-9[\]().\-_]*$/;
const MAX_LENGTH = 255;
/** Interface contract, "Messages". */
export const RESOURCE_NAME_MESSAGE =
  'Name can only contain letters, numbers and the following special characters [] () . _ -';

/** The name rule of resources (interface contract, "Name rule for resourceName"). */
export const IsResourceName = (options: ApiPropertyOptions): PropertyDecorator =>
  applyDecorators(
    ApiProperty({
      type: String,
      minLength: 1,
      maxLength: MAX_LENGTH,
      pattern: CHARACTERS.source,
      ...options,
    }),
    IsString({ message: 'must be a string' }),
    Matches(CHARACTERS, {
      message: RESOURCE_NAME_MESSAGE,
      context: { [CONTRACT_MESSAGE]: RESOURCE_NAME_MESSAGE },
    }),
    HasLength(1, MAX_LENGTH),
  );

/** What the unique index compares: names that differ only by case are the same name. */
export function nameKey(resourceName: string): string {
  return resourceName.toLowerCase();
}
