import SwiftSyntax
import SwiftSyntaxMacros

/// `@Model`: gives each stored `var` its `@Persisted`.
struct ModelMacro: MemberAttributeMacro {
    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingAttributesFor member: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AttributeSyntax] {
        let isFirst =
            declaration.memberBlock.members.first.map { $0.decl.trimmedDescription == member.trimmedDescription }
            ?? false
        guard let model = declaration.as(ClassDeclSyntax.self), model.inheritanceClause != nil else {
            // Asked for each member: said once.
            if isFirst { reportNoModel(declaration, node, in: context) }
            return []
        }
        guard let variable = member.as(VariableDeclSyntax.self), let property = Property(variable) else { return [] }
        guard property.isSound(in: context) else { return [] }
        return ["@Persisted\(raw: property.arguments)"]
    }

    private static func reportNoModel(
        _ declaration: some DeclGroupSyntax, _ node: AttributeSyntax, in context: some MacroExpansionContext
    ) {
        guard let model = declaration.as(ClassDeclSyntax.self) else {
            return context.report(
                "noClass", "'@Model' is for classes; for a struct with copies of an object there is '@Snapshot(of:)'",
                at: node)
        }
        context.report(
            "noSuperclass",
            "a model derives from 'Object' or 'EmbeddedObject', which no macro can add: write 'class \(model.name.text): Object'",
            at: model.name)
    }
}

/// A stored property of a model.
private struct Property {
    let variable: VariableDeclSyntax
    let binding: PatternBindingSyntax
    let markers: [AttributeSyntax]

    private static let ours: Set = ["PrimaryKey", "Indexed", "Origin"]
    private static let keys: Set = ["Int", "Int8", "Int16", "Int32", "Int64", "String", "ObjectId", "UUID"]

    /// nil: the file does not have it, or it says itself what it is.
    init?(_ variable: VariableDeclSyntax) {
        let attributes = variable.attributes.compactMap { $0.as(AttributeSyntax.self) }
        markers = attributes.filter { Self.ours.contains($0.attributeName.trimmedDescription) }
        let words = variable.modifiers.map(\.name.text)
        guard attributes.count == markers.count, !words.contains("static"), !words.contains("class"),
            !words.contains("lazy"),
            let binding = variable.bindings.first, !Self.isComputed(binding)
        else { return nil }
        self.variable = variable
        self.binding = binding
    }

    private static func isComputed(_ binding: PatternBindingSyntax) -> Bool {
        switch binding.accessorBlock?.accessors {
        case nil: false
        case .getter: true
        case .accessors(let list): list.contains { !["willSet", "didSet"].contains($0.accessorSpecifier.text) }
        @unknown default: true
        }
    }

    private var type: TypeSyntax? { binding.typeAnnotation?.type }

    private func marker(_ name: String) -> AttributeSyntax? {
        markers.first { $0.attributeName.trimmedDescription == name }
    }

    /// What `@Persisted` is told.
    var arguments: String {
        if marker("PrimaryKey") != nil { return "(primaryKey: true)" }
        if marker("Indexed") != nil { return "(indexed: true)" }
        if case .argumentList(let list)? = marker("Origin")?.arguments {
            return "(originProperty: \(list.trimmedDescription))"
        }
        return ""
    }

    /// Whether it can be stored; what is wrong is said at its place.
    func isSound(in context: some MacroExpansionContext) -> Bool {
        let name = binding.pattern.trimmedDescription
        if variable.bindingSpecifier.text == "let" {
            context.report(
                "constant", "'\(name)' is set when an object is read from the file: write 'var', or '@NotStored let'",
                at: variable.bindingSpecifier)
        } else if variable.bindings.count > 1 {
            context.report("several", "each stored property has a 'var' of its own", at: variable.bindings)
        } else if let observers = binding.accessorBlock {
            context.report(
                "observers", "a stored property has no 'willSet' or 'didSet': observe the object", at: observers)
        } else if type == nil, binding.initializer == nil {
            context.report(
                "noType",
                "'\(name)' needs a type: '\(marker("PrimaryKey") == nil ? "String" : "ObjectId")', for example",
                at: binding.pattern)
        } else if let type, let wrong = unsupported(type) {
            context.report("type", "'\(name)' cannot be stored as '\(type.trimmedDescription)': \(wrong)", at: type)
        } else {
            return isSoundKey(name, in: context)
        }
        return false
    }

    private func isSoundKey(_ name: String, in context: some MacroExpansionContext) -> Bool {
        guard marker("PrimaryKey") != nil else { return true }
        guard let type else {
            context.report(
                "noKeyType",
                "the primary key '\(name)' needs a written type: an integer, 'String', 'ObjectId' or 'UUID'",
                at: binding.pattern)
            return false
        }
        let plain = type.as(OptionalTypeSyntax.self)?.wrappedType ?? type
        if Self.keys.contains(plain.trimmedDescription) { return true }
        context.report(
            "keyType",
            "a primary key is an integer, 'String', 'ObjectId' or 'UUID', or an optional one, not '\(type.trimmedDescription)'",
            at: type)
        return false
    }

    /// What to write in place of a type that no file has; nil for all others: the compiler knows whether they can be
    /// stored.
    private func unsupported(_ type: TypeSyntax) -> String? {
        let plain = type.as(OptionalTypeSyntax.self)?.wrappedType ?? type
        if let array = plain.as(ArrayTypeSyntax.self) { return "write 'List<\(array.element.trimmedDescription)>'" }
        if let map = plain.as(DictionaryTypeSyntax.self) {
            return "write 'Map<\(map.key.trimmedDescription), \(map.value.trimmedDescription)>'"
        }
        if plain.is(TupleTypeSyntax.self) || plain.is(FunctionTypeSyntax.self) {
            return "the file has no such values; '@NotStored' leaves it out"
        }
        guard let named = plain.as(IdentifierTypeSyntax.self) else { return nil }
        switch named.name.text {
        case "UInt", "UInt8", "UInt16", "UInt32", "UInt64": return "integers have a sign: write 'Int'"
        case "Character", "Substring": return "write 'String'"
        case "Set": return "write 'MutableSet'"
        case "Array": return "write 'List'"
        case "Dictionary": return "write 'Map'"
        case "Float80", "Float16", "CGFloat": return "write 'Double'"
        case "Any", "AnyObject": return "write 'AnyRealmValue'"
        default: return nil
        }
    }
}
