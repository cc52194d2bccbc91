import { ApiClient, type Answer } from './support/api-client.js';
import { prove, type Proof } from './support/proof.js';

const CALLERS = 50;
const NAME_TAKEN = 'Name must be unique inside the project.';

export const proof: Proof = {
  name: 'race',
  claim:
    'of 50 concurrent creates with one name exactly one succeeds and the others get 409, regardless of the replica',
  databases: ['embedded', 'mariadb', 'mysql'],
  shortDatabases: ['mariadb'],
  async run(environment) {
    const rounds = environment.short ? 5 : 200;
    const replicas = environment.kind === 'embedded' ? 1 : 2;
    const databaseUrl = await environment.emptyDatabase();
    const token = await environment.token();
    const services = await Promise.all(
      Array.from({ length: replicas }, () => environment.startService(databaseUrl)),
    );
    const clients = services.map(({ url }) => new ApiClient(url, token));
    for (let round = 0; round < rounds; round += 1) {
      const answers = await Promise.all(
        Array.from({ length: CALLERS }, (_, caller) =>
          clients[caller % replicas]!.create(spelling(`race-${round}`, caller)),
        ),
      );
      checkRound(round, answers);
    }
    const { body } = await clients[0]!.list();
    const stored = (body['systems'] as unknown[]).length;
    prove(stored === rounds, `${stored} systems stored instead of ${rounds}`);
    await Promise.all(clients.map((client) => client.close()));
    return `${rounds} x ${CALLERS} creates on ${replicas} replica(s): ${rounds} x 201, ${rounds * (CALLERS - 1)} x 409, 0 x 5xx`;
  },
};

/** Returns the name in one of two spellings, since names are compared case-insensitively. */
function spelling(name: string, caller: number): string {
  return caller % 4 < 2 ? name : name.toUpperCase();
}

function checkRound(round: number, answers: readonly Answer[]): void {
  const counts = new Map<number, number>();
  answers.forEach(({ status }) => counts.set(status, (counts.get(status) ?? 0) + 1));
  const seen = [...counts].map(([status, count]) => `${count} x ${status}`).join(', ');
  prove(counts.get(201) === 1 && counts.get(409) === CALLERS - 1, `round ${round} answered ${seen}`);
  const refusals = answers.filter(({ status }) => status === 409);
  prove(
    refusals.every(({ body }) => body['message'] === NAME_TAKEN),
    `round ${round} refused with ${JSON.stringify(refusals[0]?.body)}`,
  );
}
