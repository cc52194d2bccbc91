import type { JSX } from 'preact';
import { Facts, Id, Moment } from '../../parts/facts.js';
import { JsonTree } from '../../parts/json-tree.js';
import { Section } from '../../parts/page-head.js';
import { texts } from '../../texts/texts.js';
import type { KnownSystem } from './system.types.js';

const { systems } = texts;

/** Details of a system, except its tools. */
export function SystemFacts({ known: { system } }: { known: KnownSystem }): JSX.Element {
  const { authorization, tls } = system;
  return (
    <Section title={systems.facts}>
      <Facts
        facts={[
          [systems.address, system.baseUrl],
          [systems.authorization, systems.authorizations[authorization.type]],
          ...(system.headerNames === undefined
            ? []
            : [[systems.headers, system.headerNames.join(', ')] as const]),
          ...(system.timeoutMs === undefined ? [] : [[systems.timeoutMs, String(system.timeoutMs)] as const]),
          [systems.definition, <Id key="definition" value={system.resourceDefinitionId} />],
          [systems.created, <Moment key="created" at={system.createdDate} />],
          [systems.createdBy, system.createdBy.userName],
          [systems.changed, <Moment key="changed" at={system.modifiedDate} />],
          [systems.modifiedBy, system.modifiedBy.userName],
        ]}
      />
      {(tls !== undefined || 'config' in authorization) && (
        <JsonTree value={{ ...('config' in authorization ? authorization.config : {}), tls }} openDepth={2} />
      )}
    </Section>
  );
}
