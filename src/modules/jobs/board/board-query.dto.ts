import { applyDecorators } from '@nestjs/common';
import { IsOptional, Matches } from 'class-validator';

const Word = (): PropertyDecorator =>
  applyDecorators(
    Matches(/^[\w.:%-]{0,64}$/, { message: 'must be up to 64 letters, digits, "_", ".", ":", "%" or "-"' }),
    IsOptional(),
  );

/** What the page of the board asks with; Bull Board judges the values. */
export class BoardQueryDto {
  @Word()
  activeQueue?: string;

  @Word()
  status?: string;

  @Word()
  page?: string;

  @Word()
  jobsPerPage?: string;

  @Word()
  queueName?: string;
}
