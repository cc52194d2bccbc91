import { ApiProperty } from '@nestjs/swagger';
import { IsCredential } from '../../../common/validation/patterns.decorators.js';

/** A client secret to use from now on. */
export class ReplaceSecretRequestDto {
  @IsCredential(1_024, {
    description: 'OAuth 2.0 client secret; never returned.',
    format: 'password',
    writeOnly: true,
    example: 'the-new-secret',
  })
  clientSecret: string;
}

/** Answer of the replacement. */
export class ReplacedSecretResponseDto {
  @ApiProperty({ type: 'integer', description: 'The HTTP status again.', example: 200 })
  status: number;

  @ApiProperty({ description: 'What happened.', example: 'Client secret replaced.' })
  message: string;

  @ApiProperty({ format: 'uuid', description: 'Resource id of the system.' })
  resourceId: string;
}
