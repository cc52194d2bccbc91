import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

/** The one error body of every endpoint (docs/contract.md, section 1; same shape as the platform rescan). */
export class ErrorResponseDto {
  @ApiProperty({ description: 'HTTP reason phrase.', example: 'Conflict' })
  error: string;

  @ApiProperty({
    description: 'What is wrong, for a person.',
    example: 'Name must be unique inside the project.',
  })
  message: string;

  @ApiProperty({ description: 'The HTTP status again.', example: 409, type: 'integer' })
  status: number;

  @ApiPropertyOptional({
    description: 'Which field and why, or for a 500 the request id to quote to the operators.',
    example: 'payload.baseUrl: must be an http or https URL',
  })
  details?: string;
}
