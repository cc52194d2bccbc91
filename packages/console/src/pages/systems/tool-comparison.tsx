import type { JSX } from 'preact';
import type { LastDecision, ToolDefinition, ToolReview } from '../../../../client/src/index.js';
import { Moment } from '../../parts/facts.js';
import { JsonTree } from '../../parts/json-tree.js';
import { SideBySide } from '../../parts/side-by-side.js';
import { texts } from '../../texts/texts.js';

const { systems } = texts;

/** Current definition of a tool, side by side with the last reviewed one if that is known. */
export function ToolComparison({ review }: { review: ToolReview }): JSX.Element {
  const { name, found, definition, decided } = review;
  if (decided === null) {
    return (
      <>
        {found === 'CHANGED' && <p class="quiet">{systems.unknownBefore}</p>}
        <Whole definition={definition} />
      </>
    );
  }
  return (
    <>
      <Before decided={decided} />
      {decided.definition.definitionHash === definition.definitionHash ? (
        <>
          <p>{systems.sameAsBefore}</p>
          <Whole definition={definition} />
        </>
      ) : (
        <Both name={name} before={decided.definition} after={definition} />
      )}
    </>
  );
}

function Before({ decided: { enabled, decidedBy, decidedAt } }: { decided: LastDecision }): JSX.Element {
  return (
    <p class="quiet">
      {decidedBy === null ? systems.unreviewedBefore : systems.decidedBefore(decidedBy.userName, enabled)}{' '}
      {decidedAt !== null && <Moment at={decidedAt} />}
    </p>
  );
}

function Whole({ definition }: { definition: ToolDefinition }): JSX.Element {
  return (
    <>
      <p class="preserved">{definition.description}</p>
      <JsonTree name={systems.definitionShort} value={partsOf(definition)} openDepth={3} />
    </>
  );
}

function Both({
  name,
  before,
  after,
}: {
  name: string;
  before: ToolDefinition;
  after: ToolDefinition;
}): JSX.Element {
  const [partsBefore, partsAfter] = [before, after].map((one) => JSON.stringify(partsOf(one), null, 2));
  return (
    <>
      {before.description !== after.description && (
        <SideBySide
          label={systems.descriptionOf(name)}
          before={before.description}
          after={after.description}
        />
      )}
      <SideBySide label={systems.schemaOf(name)} before={partsBefore ?? ''} after={partsAfter ?? ''} />
    </>
  );
}

/** Returns the definition without the description and without null fields. */
function partsOf({ title, annotations, inputSchema, outputSchema }: ToolDefinition): Record<string, unknown> {
  return {
    ...(title === null ? {} : { title }),
    ...(annotations === null ? {} : { annotations }),
    inputSchema,
    ...(outputSchema === null ? {} : { outputSchema }),
  };
}
