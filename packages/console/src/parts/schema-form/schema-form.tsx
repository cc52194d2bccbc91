import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { texts } from '../../texts/texts.js';
import { Button } from '../button.js';
import { Select, TextArea, TextField } from '../fields.js';
import { isObject, parsedJson } from '../json.js';
import { numberFault } from '../numbers.js';
import { useFault, type Faults } from './faults.js';
import { initialValue, isForm, kindAt, MAX_LEVELS, resolved, typesOf, type Schema } from './schema.js';

/** Props of a form. `value` is the data to send, without empty fields. */
export interface SchemaFormProps {
  schema: Schema;
  value: unknown;
  onChange: (value: unknown) => void;
  /** Collects invalid fields; check it before sending. */
  faults: Faults;
  /** Error messages by path of the field, as the service names it (`client.name`). */
  errors?: Readonly<Record<string, string>>;
}

interface PartProps {
  schema: Schema;
  root: Schema;
  value: unknown;
  onChange: (value: unknown) => void;
  label: string;
  path: string;
  /** Nesting depth. */
  level: number;
  isRequired: boolean;
  faults: Faults;
  errors: Readonly<Record<string, string>>;
}

/**
 * Form generated from a JSON Schema: fields for objects, lists, texts, numbers, choices and variants, and JSON for everything else.
 * The service validates the data; the form only helps to enter it.
 */
export function SchemaForm({ schema, value, onChange, faults, errors = {} }: SchemaFormProps): JSX.Element {
  return (
    <div class="schema-form">
      <Part
        schema={schema}
        root={schema}
        value={value}
        onChange={onChange}
        label={schema.title ?? texts.parts.data}
        path=""
        level={isForm(schema) ? 0 : MAX_LEVELS}
        isRequired={false}
        faults={faults}
        errors={errors}
      />
    </div>
  );
}

function Part(props: PartProps): JSX.Element {
  const schema = resolved(props.schema, props.root);
  const part = { ...props, schema };
  switch (kindAt(schema, props.level)) {
    case 'object':
      return <ObjectPart {...part} />;
    case 'array':
      return <ListPart {...part} />;
    case 'variants':
      return <VariantsPart {...part} />;
    case 'choice':
      return <ChoicePart {...part} values={schema.enum ?? [schema.const]} />;
    case 'boolean':
      return <ChoicePart {...part} values={[true, false]} />;
    case 'number':
      return <NumberPart {...part} />;
    case 'text':
      return <TextPart {...part} />;
    case 'json':
      return <JsonPart {...part} />;
  }
}

function ObjectPart({ schema, root, value, onChange, label, path, level, ...rest }: PartProps): JSX.Element {
  const members = isObject(value) ? value : {};
  const change = (name: string, next: unknown): void => {
    const { [name]: _, ...others } = members;
    onChange(next === undefined ? others : { ...others, [name]: next });
  };
  const fields = Object.entries(schema.properties ?? {}).map(([name, part]) => (
    <Part
      key={name}
      schema={part}
      root={root}
      value={members[name]}
      onChange={(next) => change(name, next)}
      label={resolved(part, root).title ?? name}
      path={path === '' ? name : `${path}.${name}`}
      level={level + 1}
      {...rest}
      isRequired={schema.required?.includes(name) === true}
    />
  ));
  return path === '' ? (
    <>{fields}</>
  ) : (
    <fieldset>
      <legend>{label}</legend>
      {schema.description !== undefined && <p class="field-hint">{schema.description}</p>}
      {fields}
    </fieldset>
  );
}

function ListPart({ schema, root, value, onChange, label, path, level, ...rest }: PartProps): JSX.Element {
  // Fields keep typed text, so they are recreated when removing an item shifts the others.
  const [removed, setRemoved] = useState(0);
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  const item = schema.items ?? {};
  return (
    <fieldset>
      <legend>{label}</legend>
      {schema.description !== undefined && <p class="field-hint">{schema.description}</p>}
      {items.map((each, index) => (
        <div key={`${removed} ${index}`} class="schema-item">
          <Part
            schema={item}
            root={root}
            value={each}
            onChange={(next) => onChange(items.with(index, next))}
            label={`${label} ${index + 1}`}
            path={`${path}.${index}`}
            level={level + 1}
            {...rest}
            isRequired
          />
          <Button
            label={`${texts.parts.remove} ${label} ${index + 1}`}
            onClick={() => {
              setRemoved(removed + 1);
              onChange(items.filter((_, at) => at !== index));
            }}
          >
            {texts.parts.remove}
          </Button>
        </div>
      ))}
      <Button onClick={() => onChange([...items, initialValue(item, root) ?? null])}>
        {texts.parts.add}
      </Button>
    </fieldset>
  );
}

function VariantsPart(props: PartProps): JSX.Element {
  const { schema, root, onChange, label } = props;
  const variants = (schema.oneOf ?? schema.anyOf ?? []).map((variant) => resolved(variant, root));
  const [chosen, setChosen] = useState(0);
  const variant = variants[chosen];
  return (
    <fieldset>
      <legend>{label}</legend>
      <Select
        label={texts.parts.choice}
        value={String(chosen)}
        choices={variants.map((each, index) => ({
          value: String(index),
          title: each.title ?? (typesOf(each).join(', ') || String(index + 1)),
        }))}
        onChange={(index) => {
          setChosen(Number(index));
          onChange(initialValue(variants[Number(index)] ?? {}, root));
        }}
      />
      {variant !== undefined && <Part key={chosen} {...props} schema={variant} level={props.level + 1} />}
    </fieldset>
  );
}

function ChoicePart({
  values,
  value,
  onChange,
  ...part
}: PartProps & { values: readonly unknown[] }): JSX.Element {
  const at = values.findIndex((each) => JSON.stringify(each) === JSON.stringify(value));
  return (
    <Select
      {...fieldOf(part)}
      value={at < 0 ? '' : String(at)}
      empty={texts.parts.choose}
      choices={values.map((each, index) => ({ value: String(index), title: titleOf(each) }))}
      onChange={(index) => onChange(index === '' ? undefined : values[Number(index)])}
    />
  );
}

function TextPart({ value, onChange, ...part }: PartProps): JSX.Element {
  const type = part.schema.format === 'date' ? 'date' : 'text';
  return (
    <TextField
      {...fieldOf(part)}
      type={type}
      value={typeof value === 'string' ? value : ''}
      onChange={(text) => onChange(text === '' ? undefined : text)}
    />
  );
}

function NumberPart({ value, onChange, ...part }: PartProps): JSX.Element {
  const [text, setText] = useState(typeof value === 'number' ? String(value) : '');
  const field = fieldOf(part);
  const isWhole = typesOf(part.schema)[0] === 'integer';
  const fault = numberFault(text, isWhole);
  useFault(part.faults, { path: part.path, label: field.label, text: fault });
  return (
    <TextField
      {...field}
      error={fault ?? field.error}
      type="number"
      value={typeof value === 'number' && value !== Number(text) ? String(value) : text}
      onChange={(next) => {
        setText(next);
        const isValue = next.trim() !== '' && numberFault(next, isWhole) === undefined;
        onChange(isValue ? Number(next) : undefined);
      }}
    />
  );
}

function JsonPart({ value, onChange, ...part }: PartProps): JSX.Element {
  const [text, setText] = useState(value === undefined ? '' : JSON.stringify(value, null, 2));
  const field = fieldOf(part);
  const fault = jsonFault(text, part.path);
  useFault(part.faults, { path: part.path, label: field.label, text: fault });
  return (
    <TextArea
      {...field}
      error={fault ?? field.error}
      isCode
      value={text}
      onChange={(next) => {
        setText(next);
        onChange(jsonFault(next, part.path) === undefined ? parsedJson(next) : undefined);
      }}
    />
  );
}

/** Returns why text is not valid JSON, or undefined. Empty text is valid. The root must be an object. */
function jsonFault(text: string, path: string): string | undefined {
  if (text.trim() === '') {
    return undefined;
  }
  const value = parsedJson(text);
  if (value === undefined) {
    return texts.parts.notJson;
  }
  return path === '' && !isObject(value) ? texts.parts.notAnObject : undefined;
}

interface FieldTexts {
  label: string;
  hint: string | undefined;
  error: string | undefined;
  isRequired: boolean;
}

function fieldOf({
  schema,
  label,
  path,
  isRequired,
  errors,
}: Omit<PartProps, 'value' | 'onChange'>): FieldTexts {
  return { label: label === '' ? path : label, hint: schema.description, error: errors[path], isRequired };
}

function titleOf(value: unknown): string {
  if (typeof value === 'boolean') {
    return value ? texts.parts.yes : texts.parts.no;
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}
