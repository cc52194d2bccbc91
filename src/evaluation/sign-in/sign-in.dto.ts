import { ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsOptional, IsString } from 'class-validator';
import { IsDisplayName } from '../../common/validation/patterns.decorators.js';

const SUBJECT_MAX_LENGTH = 100;
const PERMISSIONS_MAX = 100;

/** Whom a person wants to be in evaluation mode. */
export class SignInDto {
  @IsDisplayName(SUBJECT_MAX_LENGTH, { description: 'Subject of the token.' })
  subject: string;

  @ApiPropertyOptional({ type: [String], description: 'Names of permissions; all of them without it.' })
  @IsArray({ message: 'must be a list' })
  @ArrayMaxSize(PERMISSIONS_MAX, { message: `must have at most ${PERMISSIONS_MAX} items` })
  @IsString({ each: true, message: 'must be strings' })
  @IsOptional()
  permissions?: string[];
}
