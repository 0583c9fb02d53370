"""Questions after a question, labelled by us: which lean on it, and what has to be carried over then."""

from __future__ import annotations

from typing import NamedTuple


class Pair(NamedTuple):
    """A question, what answered it, and the one that follows."""

    language: str
    asked: str
    said: str
    follows: str
    carries: tuple[str, ...] | None
    """Words that search needs; None: the question stands alone."""


_FERRY = "When did Lindqvist buy the ferry?", "Captain Lindqvist bought the ferry in 1987 for 12,000 crowns."
_MILL = "Who built the tide mill at Skarne?", "The tide mill was built by Ida Pell and her brothers in 1844."
_OATS = "What did oats cost in 1911?", "In 1911 a barrel of oats cost four crowns."
_FAEHRE = "Wann hat Lindqvist die Fähre gekauft?", "Kapitän Lindqvist kaufte die Fähre 1987."
_MUEHLE = "Wer hat die Mühle in Skarne gebaut?", "Die Mühle wurde 1844 von Ida Pell gebaut."
_BAC = "Quand Lindqvist a-t-il acheté le bac ?", "Le capitaine Lindqvist acheta le bac en 1987."
_MOULIN = "Qui a construit le moulin de Skarne ?", "Le moulin fut construit par Ida Pell en 1844."
_BARCO = "¿Cuándo compró Lindqvist el transbordador?", "El capitán Lindqvist compró el transbordador en 1987."
_MOLINO = "¿Quién construyó el molino de Skarne?", "El molino fue construido por Ida Pell en 1844."
_CHUAN = "船长什么时候买了渡轮？", "船长在1987年买了渡轮。"
_MOFANG = "谁建造了磨坊？", "磨坊是艾达在1844年建造的。"

PAIRS = [
    # English
    Pair("en", *_FERRY, "Where was he born?", ("Lindqvist",)),
    Pair("en", *_FERRY, "How much did he pay for it?", ("Lindqvist", "ferry")),
    Pair("en", *_FERRY, "What colour is it?", ("ferry",)),
    Pair("en", *_FERRY, "Why?", ("Lindqvist", "ferry")),
    Pair("en", *_FERRY, "And who sold it?", ("ferry",)),
    Pair("en", *_FERRY, "What about his brother?", ("Lindqvist",)),
    Pair("en", *_FERRY, "How do you know that?", ("Lindqvist", "ferry")),
    Pair("en", *_MILL, "When was that?", ("mill",)),
    Pair("en", *_MILL, "Is she still alive?", ("Ida",)),
    Pair("en", *_MILL, "Who lives there now?", ("Skarne",)),
    Pair("en", *_MILL, "Who else helped?", ("mill",)),
    Pair("en", *_OATS, "And in 1912?", ("oats",)),
    Pair("en", *_OATS, "In 1912?", ("oats",)),
    Pair("en", *_OATS, "What about barley?", ("cost",)),
    Pair("en", *_OATS, "Where did they come from?", ("oats",)),
    Pair("en", *_OATS, "Which one was cheaper?", ("oats",)),
    Pair("en", *_FERRY, "When does the ferry to Skarne leave?", None),
    Pair("en", *_FERRY, "How long does it take to bake rye bread?", None),
    Pair("en", *_FERRY, "Is there a lighthouse on Vinga?", None),
    Pair("en", *_FERRY, "How many lamps are there on the wall?", None),
    Pair("en", *_FERRY, "Who was the man that rowed the doctor across?", None),
    Pair("en", *_FERRY, "Why did Ida Pell sell her boat?", None),
    Pair("en", *_FERRY, "When the wind turns, what does the miller do with it?", None),
    Pair("en", *_FERRY, "Is it true that the mill burned down?", None),
    Pair("en", *_FERRY, "What is this book about?", None),
    Pair("en", *_FERRY, "And when was the tide mill built?", None),
    Pair("en", *_FERRY, "sluice gate rules", None),
    Pair("en", *_FERRY, "Which rules did the parish write down?", None),
    Pair("en", *_FERRY, "What did those who stayed on the island eat?", None),
    Pair("en", *_FERRY, "How should a stone be dressed so that it grinds well?", None),
    # German
    Pair("de", *_FAEHRE, "Wo wurde er geboren?", ("Lindqvist",)),
    Pair("de", *_FAEHRE, "Was hat sie gekostet?", ("Fähre",)),
    Pair("de", *_FAEHRE, "Warum?", ("Lindqvist", "Fähre")),
    Pair("de", *_FAEHRE, "Wem gehörte sie davor?", ("Fähre",)),
    Pair("de", *_MUEHLE, "Wann war das?", ("Mühle",)),
    Pair("de", *_MUEHLE, "Und in Norrby?", ("Mühle",)),
    Pair("de", *_MUEHLE, "Wer wohnt dort heute?", ("Skarne",)),
    Pair("de", *_MUEHLE, "Wie viel wurde damit gemahlen?", ("Mühle",)),
    Pair("de", *_FAEHRE, "Gibt es einen Leuchtturm auf Vinga?", None),
    Pair("de", *_FAEHRE, "Worum geht es in diesem Buch?", None),
    Pair("de", *_FAEHRE, "Wann fährt die Fähre nach Skarne?", None),
    Pair("de", *_FAEHRE, "Warum hat Ida Pell ihr Boot verkauft?", None),
    Pair("de", *_FAEHRE, "Können Sie die Regeln der Mühle nennen?", None),
    Pair("de", *_FAEHRE, "Wie lange ruht der Teig?", None),
    # French
    Pair("fr", *_BAC, "Où est-il né ?", ("Lindqvist",)),
    Pair("fr", *_BAC, "Et combien l'a-t-il payé ?", ("Lindqvist", "bac")),
    Pair("fr", *_BAC, "Pourquoi ?", ("Lindqvist", "bac")),
    Pair("fr", *_MOULIN, "C'était quand ?", ("moulin",)),
    Pair("fr", *_MOULIN, "Et en 1912 ?", ("moulin",)),
    Pair("fr", *_MOULIN, "Qui y habite aujourd'hui ?", ("Skarne",)),
    Pair("fr", *_BAC, "Y a-t-il un phare à Vinga ?", None),
    Pair("fr", *_BAC, "De quoi parle ce livre ?", None),
    Pair("fr", *_BAC, "Combien de temps la pâte repose-t-elle ?", None),
    Pair("fr", *_BAC, "Quand part le bac pour Skarne ?", None),
    # Spanish
    Pair("es", *_BARCO, "¿Dónde nació?", ("Lindqvist",)),
    Pair("es", *_BARCO, "¿Y cuánto pagó por él?", ("Lindqvist", "transbordador")),
    Pair("es", *_BARCO, "¿Por qué?", ("Lindqvist", "transbordador")),
    Pair("es", *_MOLINO, "¿Y en 1912?", ("molino",)),
    Pair("es", *_MOLINO, "¿Quién vive allí ahora?", ("Skarne",)),
    Pair("es", *_MOLINO, "¿Quiénes eran sus hermanos?", ("Ida",)),
    Pair("es", *_BARCO, "¿De qué trata este libro?", None),
    Pair("es", *_BARCO, "¿Cuándo sale el transbordador a Skarne?", None),
    Pair("es", *_BARCO, "¿Hay un faro en Vinga?", None),
    Pair("es", *_BARCO, "¿Por qué vendió Ida Pell su barca?", None),
    # Chinese
    Pair("zh", *_CHUAN, "他在哪里出生？", ("船长",)),
    Pair("zh", *_CHUAN, "它是什么颜色的？", ("渡轮",)),
    Pair("zh", *_CHUAN, "为什么？", ("船长", "渡轮")),
    Pair("zh", *_MOFANG, "那是什么时候？", ("磨坊",)),
    Pair("zh", *_MOFANG, "1912年呢？", ("磨坊",)),
    Pair("zh", *_CHUAN, "渡轮什么时候出发？", None),
    Pair("zh", *_CHUAN, "这本书讲什么？", None),
    Pair("zh", *_CHUAN, "船上有哪些其他乘客？", None),
    Pair("zh", *_CHUAN, "面团要放多久？", None),
    # Italian and Russian
    Pair(
        "it",
        "Chi ha costruito il mulino?",
        "Il mulino fu costruito da Ida Pell.",
        "Quando è nata lei?",
        ("Ida",),
    ),
    Pair(
        "it", "Chi ha costruito il mulino?", "Il mulino fu costruito da Ida Pell.", "E nel 1912?", ("mulino",)
    ),
    Pair("it", "Chi ha costruito il mulino?", "", "Quanto costa il biglietto per Skarne?", None),
    Pair("ru", "Кто построил мельницу?", "Мельницу построила Ида Пелл.", "Когда она родилась?", ("Ида",)),
    Pair("ru", "Кто построил мельницу?", "Мельницу построила Ида Пелл.", "А в 1912 году?", ("мельницу",)),
    Pair("ru", "Кто построил мельницу?", "", "Когда отходит паром на Скарне?", None),
]

_FOG = (
    "What happened in the night of the fog?",
    "In the night of the fog the Maria Gust ran aground below Brede.",
)
_BROT = "Wie lange ruht der Teig?", "Der Teig ruht zwölf Stunden in einem kalten Raum."
_PHARE = "Qui gardait le phare de Vinga ?", "Le phare de Vinga était gardé par Anna Brede."
_FARO = "¿Quién cuidaba el faro de Vinga?", "El faro de Vinga estaba a cargo de Anna Brede."
_YU = "渔民在哪里捕鳗鱼？", "渔民在水闸下面捕鳗鱼。"

HELD = [
    Pair("en", *_FOG, "Were there any deaths on board of her?", ("fog",)),
    Pair("en", *_FOG, "Who was to blame for that?", ("fog",)),
    Pair("en", *_FOG, "Then what?", ("fog",)),
    Pair("en", *_FOG, "Did anyone rescue them?", ("fog",)),
    Pair("en", *_FOG, "How far is Brede from this place?", ("fog",)),
    Pair("en", *_FOG, "Since when?", ("fog",)),
    Pair("en", *_FOG, "Which ships ran aground below Brede in 1902?", None),
    Pair("en", *_FOG, "How much does it cost to send a parcel?", None),
    Pair("en", *_FOG, "Does the council say whether it will repair the wall?", None),
    Pair("en", *_FOG, "Where do eels go in winter?", None),
    Pair("en", *_FOG, "What is the difference between silt and sand?", None),
    Pair("en", *_FOG, "But who paid for the lamps on the quay?", None),
    Pair("de", *_BROT, "Und das Roggenbrot?", ("Teig",)),
    Pair("de", *_BROT, "Warum so lange?", ("Teig",)),
    Pair("de", *_BROT, "Was passiert danach mit ihm?", ("Teig",)),
    Pair("de", *_BROT, "Wie heißt der Bäcker, der das Brot bringt?", None),
    Pair("de", *_BROT, "Was kostet eine Fahrt nach Skarne?", None),
    Pair("fr", *_PHARE, "Quel âge avait-elle ?", ("phare",)),
    Pair("fr", *_PHARE, "Et son mari ?", ("phare",)),
    Pair("fr", *_PHARE, "Qui est le gardien du pont ?", None),
    Pair("es", *_FARO, "¿Cuándo murió?", ("faro",)),
    Pair("es", *_FARO, "¿Y su marido?", ("faro",)),
    Pair("es", *_FARO, "¿Cuántas escaleras tiene el faro de Brede?", None),
    Pair("zh", *_YU, "他们什么时候去？", ("渔民",)),
    Pair("zh", *_YU, "那冬天呢？", ("鳗鱼",)),
    Pair("zh", *_YU, "水闸是谁修的？", None),
]
"""Written after the rules, and not looked at while they were made."""
