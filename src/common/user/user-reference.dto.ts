import { ApiProperty } from '@nestjs/swagger';
import type { Person, UserReference } from './user-reference.js';

/** A person or client by name (docs/contract.md, section 1). */
export class PersonDto implements Person {
  @ApiProperty({ description: 'Given name; empty when the token does not tell.', example: 'Jane' })
  firstName: string;

  @ApiProperty({ description: 'Family name; empty when the token does not tell.', example: 'Doe' })
  lastName: string;

  @ApiProperty({ description: 'Login name, else e-mail address, client id or subject.', example: 'jane.doe' })
  userName: string;
}

/** Who did something (docs/contract.md, section 1). */
export class UserReferenceDto extends PersonDto implements UserReference {
  @ApiProperty({
    description: 'Who acted in the name of this user (RFC 8693 `act` claim); null when nobody did.',
    type: () => PersonDto,
    nullable: true,
    example: null,
  })
  impersonatingUser: PersonDto | null;
}
