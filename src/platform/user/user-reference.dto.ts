import { Answer, AnswerWith, Shows } from '../openapi/answer-fields.decorators.js';

/** A person or client by name (docs/contract.md, section 1). */
export class PersonDto extends Answer({
  firstName: Shows.value('Given name; empty when the token does not tell.', 'Jane'),
  lastName: Shows.value('Family name; empty when the token does not tell.', 'Doe'),
  userName: Shows.value('Login name, else e-mail address, client id or subject.', 'jane.doe'),
}) {}

/** Who did something (docs/contract.md, section 1). */
export class UserReferenceDto extends AnswerWith(PersonDto, {
  impersonatingUser: Shows.partOrNull(
    () => PersonDto,
    'Who acted in the name of this user (RFC 8693 `act` claim); null when nobody did.',
    null,
  ),
}) {}
