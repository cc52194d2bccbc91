import { Answer, AnswerWith, Shows } from '../openapi/answer-fields.decorators.js';

/** A person or client by name (docs/contract.md, section 1). */
export class PersonDto extends Answer({
  firstName: Shows.value('Given name; empty if the token has none.', 'Jane'),
  lastName: Shows.value('Family name; empty if the token has none.', 'Doe'),
  userName: Shows.value('Login name, else e-mail address, client id or subject.', 'jane.doe'),
}) {}

/** Who did something (docs/contract.md, section 1). */
export class UserReferenceDto extends AnswerWith(PersonDto, {
  impersonatingUser: Shows.partOrNull(
    () => PersonDto,
    'The actor on behalf of this user (RFC 8693 `act` claim); null if there is none.',
    null,
  ),
}) {}
