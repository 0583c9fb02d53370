"""What Mindscape itself says in an answer, in the language of the question."""

from __future__ import annotations

from typing import NamedTuple

from mindscape.ask.tongue import ENGLISH, language_of
from mindscape.prompts import NOT_STATED


class Phrases(NamedTuple):
    """The sentences around quotes, and those in place of an answer."""

    quoting: str
    not_found: str
    nothing_yet: str
    stopped: str
    uncited: str
    not_stated: str
    """What a model is told to write where the passages do not hold the answer."""


_COMMAND = "mindscape add PATH"
_PHRASES = {
    "en": Phrases(
        "Quoted from your documents (no model here writes answers):",
        "This does not seem to be in your documents.",
        f"There is nothing in the library yet. Add a folder: {_COMMAND}",
        "The model stopped before it was done. Quoted from your documents instead:",
        "The answer above cites no source. The closest sentences in your documents:",
        NOT_STATED,
    ),
    "de": Phrases(
        "Aus Ihren Dokumenten zitiert (kein Modell schreibt hier Antworten):",
        "Das scheint nicht in Ihren Dokumenten zu stehen.",
        f"Die Bibliothek ist noch leer. Einen Ordner hinzufügen: {_COMMAND}",
        "Das Modell hat aufgehört, bevor es fertig war. Stattdessen aus Ihren Dokumenten zitiert:",
        "Die Antwort oben nennt keine Quelle. Die nächsten Sätze in Ihren Dokumenten:",
        "Die Dokumente sagen es nicht.",
    ),
    "fr": Phrases(
        "Cité de vos documents (aucun modèle n’écrit de réponses ici) :",
        "Cela ne semble pas se trouver dans vos documents.",
        f"La bibliothèque est encore vide. Ajoutez un dossier : {_COMMAND}",
        "Le modèle s’est arrêté avant la fin. Cité de vos documents à la place :",
        "La réponse ci-dessus ne cite aucune source. Les phrases les plus proches dans vos documents :",
        "Les documents ne le disent pas.",
    ),
    "es": Phrases(
        "Citado de sus documentos (ningún modelo escribe respuestas aquí):",
        "Esto no parece estar en sus documentos.",
        f"La biblioteca aún está vacía. Añada una carpeta: {_COMMAND}",
        "El modelo se detuvo antes de terminar. En su lugar, citado de sus documentos:",
        "La respuesta anterior no cita ninguna fuente. Las frases más cercanas de sus documentos:",
        "Los documentos no lo dicen.",
    ),
    "it": Phrases(
        "Citato dai tuoi documenti (qui nessun modello scrive risposte):",
        "Questo non sembra trovarsi nei tuoi documenti.",
        f"La biblioteca è ancora vuota. Aggiungi una cartella: {_COMMAND}",
        "Il modello si è fermato prima di finire. Ecco invece citazioni dai tuoi documenti:",
        "La risposta qui sopra non cita alcuna fonte. Le frasi più vicine nei tuoi documenti:",
        "I documenti non lo dicono.",
    ),
    "pt": Phrases(
        "Citado dos seus documentos (nenhum modelo escreve respostas aqui):",
        "Isto não parece estar nos seus documentos.",
        f"A biblioteca ainda está vazia. Adicione uma pasta: {_COMMAND}",
        "O modelo parou antes de terminar. Em vez disso, citado dos seus documentos:",
        "A resposta acima não cita nenhuma fonte. As frases mais próximas nos seus documentos:",
        "Os documentos não o dizem.",
    ),
    "nl": Phrases(
        "Geciteerd uit uw documenten (geen model schrijft hier antwoorden):",
        "Dit lijkt niet in uw documenten te staan.",
        f"De bibliotheek is nog leeg. Voeg een map toe: {_COMMAND}",
        "Het model stopte voordat het klaar was. In plaats daarvan geciteerd uit uw documenten:",
        "Het antwoord hierboven noemt geen bron. De dichtstbijzijnde zinnen in uw documenten:",
        "De documenten zeggen het niet.",
    ),
    "ru": Phrases(
        "Цитаты из ваших документов (модель здесь ответов не пишет):",
        "Кажется, в ваших документах этого нет.",
        f"Библиотека пока пуста. Добавьте папку: {_COMMAND}",
        "Модель остановилась, не закончив. Вместо этого цитаты из ваших документов:",
        "Ответ выше не называет источника. Ближайшие предложения из ваших документов:",
        "В документах этого нет.",
    ),
    "el": Phrases(
        "Παραθέματα από τα έγγραφά σας (κανένα μοντέλο δεν γράφει εδώ απαντήσεις):",
        "Αυτό δεν φαίνεται να υπάρχει στα έγγραφά σας.",
        f"Η βιβλιοθήκη είναι ακόμη άδεια. Προσθέστε έναν φάκελο: {_COMMAND}",
        "Το μοντέλο σταμάτησε πριν τελειώσει. Αντί για αυτό, παραθέματα από τα έγγραφά σας:",
        "Η παραπάνω απάντηση δεν αναφέρει πηγή. Οι πλησιέστερες προτάσεις στα έγγραφά σας:",
        "Τα έγγραφα δεν το λένε.",
    ),
    "zh": Phrases(
        "摘自您的文档（这里没有模型撰写答案）：",
        "您的文档中似乎没有这些内容。",
        f"资料库还是空的。请添加文件夹：{_COMMAND}",
        "模型未完成就停止了。以下摘自您的文档：",
        "上面的答案没有注明出处。您的文档中最接近的句子：",
        "文档中没有说明。",
    ),
    "ja": Phrases(
        "文書からの引用（回答を書くモデルはありません）：",
        "文書には見当たらないようです。",
        f"ライブラリはまだ空です。フォルダを追加してください：{_COMMAND}",
        "モデルが途中で止まりました。代わりに文書から引用します：",
        "上の回答には出典がありません。文書の中で最も近い文：",
        "文書には書かれていません。",
    ),
    "ko": Phrases(
        "문서에서 인용 (답을 쓰는 모델이 없습니다):",
        "문서에 없는 내용인 것 같습니다.",
        f"라이브러리가 아직 비어 있습니다. 폴더를 추가하세요: {_COMMAND}",
        "모델이 끝내기 전에 멈췄습니다. 대신 문서에서 인용합니다:",
        "위의 답에는 출처가 없습니다. 문서에서 가장 가까운 문장:",
        "문서에 나와 있지 않습니다.",
    ),
    "ar": Phrases(
        "اقتباس من مستنداتك (لا يكتب أي نموذج إجابات هنا):",
        "يبدو أن هذا غير موجود في مستنداتك.",
        f"المكتبة فارغة حتى الآن. أضف مجلدًا: {_COMMAND}",
        "توقف النموذج قبل أن ينتهي. إليك بدلاً من ذلك اقتباسات من مستنداتك:",
        "لا تذكر الإجابة أعلاه أي مصدر. أقرب الجمل في مستنداتك:",
        "لا تذكر المستندات ذلك.",
    ),
    "he": Phrases(
        "מצוטט מהמסמכים שלך (אין כאן מודל שכותב תשובות):",
        "נראה שזה לא נמצא במסמכים שלך.",
        f"הספרייה עדיין ריקה. הוסיפו תיקייה: {_COMMAND}",
        "המודל עצר לפני שסיים. במקום זאת, ציטוטים מהמסמכים שלך:",
        "התשובה למעלה אינה מציינת מקור. המשפטים הקרובים ביותר במסמכים שלך:",
        "המסמכים אינם אומרים זאת.",
    ),
    "tr": Phrases(
        "Belgelerinizden alıntı (burada yanıt yazan bir model yok):",
        "Bu, belgelerinizde yok gibi görünüyor.",
        f"Kitaplık henüz boş. Bir klasör ekleyin: {_COMMAND}",
        "Model bitirmeden durdu. Bunun yerine belgelerinizden alıntılar:",
        "Yukarıdaki yanıt kaynak göstermiyor. Belgelerinizdeki en yakın cümleler:",
        "Belgeler bunu söylemiyor.",
    ),
}


def phrases(question: str) -> Phrases:
    """The sentences in the language of a question; in English where they are not known in it."""
    return _PHRASES.get(language_of(question), _PHRASES[ENGLISH])


def refusals() -> list[str]:
    """In every language what a model writes that finds no answer."""
    return [one.not_stated for one in _PHRASES.values()]
