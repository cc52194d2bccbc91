import { ApiProperty } from '@nestjs/swagger';
import { Shows } from '../answer-fields.decorators.js';
import type { Person, UserReference } from './user-reference.js';

/** A person or client by name (docs/contract.md, section 1). */
export class PersonDto implements Person {
  @Shows.value('Given name; empty when the token does not tell.', 'Jane')
  firstName: string;

  @Shows.value('Family name; empty when the token does not tell.', 'Doe')
  lastName: string;

  @Shows.value('Login name, else e-mail address, client id or subject.', 'jane.doe')
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
