import SwiftSyntax
import SwiftSyntaxMacros

/// `@Snapshot(of:)`: an initialiser that copies each stored property of the struct from the property of the object with
/// its name.
struct SnapshotMacro: ExtensionMacro {
    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        guard let structure = declaration.as(StructDeclSyntax.self) else {
            context.report("noStruct", "'@Snapshot' is for structs: copies are values", at: node)
            return []
        }
        guard case .argumentList(let list)? = node.arguments, let model = modelName(list.first?.expression) else {
            context.report(
                "noModel", "'@Snapshot' needs the class that it copies: '@Snapshot(of: Person.self)'", at: node)
            return []
        }
        guard let names = names(of: structure, in: context) else { return [] }
        let access =
            structure.modifiers.map(\.name.text).first { ["public", "package"].contains($0) }.map { $0 + " " } ?? ""
        let copies = names.map { "        self.\($0) = RealmMacros._snapshot(object.\($0))" }.joined(separator: "\n")
        let text: DeclSyntax = """
            extension \(type.trimmed): RealmMacros.ObjectSnapshot {
                \(raw: access)typealias Model = \(raw: model)
                \(raw: access)init(from object: \(raw: model)) {
            \(raw: copies)
                }
            }
            """
        return text.as(ExtensionDeclSyntax.self).map { [$0] } ?? []
    }

    private static func modelName(_ expression: ExprSyntax?) -> String? {
        guard let access = expression?.as(MemberAccessExprSyntax.self), access.declName.baseName.text == "self" else {
            return nil
        }
        return access.base?.trimmedDescription
    }

    /// Of the stored properties that the object fills; nil: something is wrong, and was said.
    private static func names(of structure: StructDeclSyntax, in context: some MacroExpansionContext) -> [String]? {
        var names: [String] = [], isSound = true
        for variable in structure.memberBlock.members.compactMap({ $0.decl.as(VariableDeclSyntax.self) }) {
            let words = variable.modifiers.map(\.name.text)
            guard !words.contains("static") else { continue }
            for binding in variable.bindings where binding.accessorBlock == nil && binding.initializer == nil {
                guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text else { continue }
                // In `let a, b: Int` the type stands behind the last.
                let hasType = variable.bindings.contains { $0.typeAnnotation != nil }
                if !hasType {
                    context.report(
                        "noType", "'\(name)' needs a type: which one decides how it is copied", at: binding.pattern)
                    isSound = false
                }
                names.append(name)
            }
        }
        if isSound, names.isEmpty {
            context.report(
                "empty", "'\(structure.name.text)' has no stored property that could be copied", at: structure.name)
            isSound = false
        }
        return isSound ? names : nil
    }
}
